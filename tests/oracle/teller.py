"""Tells one scenario, in one version, to one broker, and keeps what the broker answers."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from interfaces.kafka.wire.headers import API_VERSIONS
from interfaces.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from interfaces.kafka.wire.messages.describe_groups import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from interfaces.kafka.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from interfaces.kafka.wire.messages.produce import ProduceRequest
from interfaces.kafka.wire.schema import Message, Request, Response
from tests.e2e.broker_process import Address
from tests.e2e.raw_client import RawClient
from tests.golden.frames import message_of
from tests.oracle.placeholders import Placeholders
from tests.oracle.plain import answer_as_plain, learn_from_request, octets, request_as_plain

PATIENCE_S = 20.0
#: For what may be left without an answer.
SHORT_PATIENCE_S = 1.5
CLOSED, SILENT = "the connection is closed", "no answer"
_POLLS = 5_000
_PROBE_ID = 0x7F000000
#: The connection of what is not kept, so that it passes by a request that waits.
_STAGE = "stage"


class Topic(NamedTuple):
    name: str
    topic_id: bytes


class Told(NamedTuple):
    step: str
    request: Any
    answer: Any


class Waiting(NamedTuple):
    """A request that was sent, of which the answer is still to be read."""

    request: Request
    plain: Any
    version: int
    on: str
    correlation_id: int


class Teller:
    def __init__(self, address: Address, api: str, scenario: str, version: int) -> None:
        self.api, self.scenario, self.version = api, scenario, version
        self.told: list[Told] = []
        self.placeholders = Placeholders()
        self._address = address
        self._clients: dict[str, RawClient] = {}
        self._last_id = 0

    # ---- the stage

    def name(self, short: str) -> str:
        """A topic's name that no other run has; short names sort as the long ones do."""
        name = f"{self.api}-{self.scenario}-v{self.version}-{short}".replace("_", "-")
        name = name.replace(" ", "-")
        self.placeholders.add_topic(name, short)
        return name

    def topic(self, short: str, partitions: int = 1, **configs: str) -> Topic:
        """One that is there when this returns; max.message.bytes is spelt max_message_bytes."""
        name = self.name(short)
        pairs = {key.replace("_", "."): value for key, value in configs.items()}
        wanted = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=1,
            assignments=[],
            configs=[CreatableTopicConfig(name=k, value=v) for k, v in pairs.items()],
        )
        answer = self.call(CreateTopicsRequest(topics=[wanted]), CreateTopicsResponse, 7)
        [created] = answer.topics
        assert created.error_code == 0, created
        self.placeholders.add_id(created.topic_id, name)
        self.settle(name, partitions)
        return Topic(name, created.topic_id)

    def settle(self, name: str, partitions: int) -> None:
        """Kafka answers before its own parts have heard of a change; 0 for a deleted topic."""
        with self._address.connect(PATIENCE_S) as client:
            for _ in range(_POLLS):
                if client.usable_partitions(name, max(partitions, 1)) == partitions:
                    return
        raise AssertionError(f"{name} never had {partitions} partitions")

    def call(self, request: Request, response: type[Response], version: int) -> Any:
        """A request of the stage, not of the play: nothing is kept of it."""
        learn_from_request(request, self.placeholders)
        frame = _answer_frame(self._exchange(request, version, PATIENCE_S, _STAGE))
        return response.decode(version, frame, _body_start(response, version))[0]

    def group(self, short: str) -> str:
        """A group's name that no other run has."""
        return self.name(short)

    def group_becomes(self, group_id: str, state: str, members: int | None = None) -> None:
        """Waits for what a request on another connection is to bring about."""
        asked = DescribeGroupsRequest(groups=[group_id])
        for _ in range(_POLLS):
            [group] = self.call(asked, DescribeGroupsResponse, 5).groups
            if group.group_state == state and members in (None, len(group.members)):
                return
        raise AssertionError(f"{group_id} is {group.group_state} with {len(group.members)} members")

    def offsets_vanish(self, group_id: str) -> None:
        """A while after their topic did, in Kafka."""
        asked = OffsetFetchRequest(group_id=group_id, topics=None)
        for _ in range(_POLLS):
            if not self.call(asked, OffsetFetchResponse, 5).topics:
                return
        raise AssertionError(f"{group_id} still has offsets")

    # ---- the play

    def ask(
        self,
        step: str,
        request: Request,
        version: int | None = None,
        patience_s: float = PATIENCE_S,
        on: str = "",
    ) -> Any:
        """The decoded answer, or None where there is none; `version` where not the scenario's.

        `on` names a connection; each is opened at its first use.
        """
        version = self.version if version is None else version
        plain = request_as_plain(request, self.placeholders)
        raw = self._exchange(request, version, patience_s, on)
        return self._keep(step, plain, raw, _response_of(request), version)

    def begin(self, request: Request, on: str, version: int | None = None) -> Waiting:
        """Sends what is answered only when something happens on another connection."""
        version = self.version if version is None else version
        plain = request_as_plain(request, self.placeholders)
        assert self._write(on, self._frame_of(request, version))
        return Waiting(request, plain, version, on, self._last_id)

    def end(self, step: str, waiting: Waiting) -> Any:
        raw = self._read(waiting.on, waiting.correlation_id)
        response = _response_of(waiting.request)
        return self._keep(step, waiting.plain, raw, response, waiting.version)

    def ask_raw(
        self,
        step: str,
        api: str,
        body: bytes,
        version: int | None = None,
        answer_version: int | None = None,
        patience_s: float = PATIENCE_S,
    ) -> Any:
        """Bytes that our encoder would not write, with a header of the API and the version."""
        version = self.version if version is None else version
        request = message_of(api, "request")
        head = self._head(request.api_key, version, request.is_flexible(version))
        raw = self._send(head + body, patience_s)
        answered = version if answer_version is None else answer_version
        return self._keep(step, octets(body), raw, message_of(api, "response"), answered)

    def ask_frame(self, step: str, frame: bytes) -> None:
        """A whole frame, for which no answer is expected."""
        raw = self._send(frame, PATIENCE_S)
        self.told.append(Told(step, octets(frame), raw if isinstance(raw, str) else octets(raw)))

    def _keep(
        self, step: str, plain: Any, raw: bytes | str, response: type[Message], version: int
    ) -> Any:
        if isinstance(raw, str):
            self.told.append(Told(step, plain, raw))
            return None
        answer, end = response.decode(version, raw, _body_start(response, version))
        assert end == len(raw), f"{step}: {len(raw) - end} bytes after the answer"
        kept = answer_as_plain(answer, version, self.placeholders)
        self.told.append(Told(step, plain, kept))
        return answer

    # ---- the wire

    def _exchange(
        self, request: Request, version: int, patience_s: float, on: str = ""
    ) -> bytes | str:
        frame = self._frame_of(request, version)
        unanswered = isinstance(request, ProduceRequest) and request.acks == 0
        return self._send(frame, patience_s, unanswered, on)

    def _frame_of(self, request: Request, version: int) -> bytes:
        body = b"".join(request.encode(version))
        return self._head(request.api_key, version, request.is_flexible(version)) + body

    def _head(self, key: int, version: int, flexible: bool) -> bytes:
        self._last_id += 1
        name = b"oracle"
        fixed = struct.pack(">hhih", key, version, self._last_id, len(name))
        return fixed + name + (b"\0" if flexible else b"")

    def _send(
        self, frame: bytes, patience_s: float, probe: bool = False, on: str = ""
    ) -> bytes | str:
        """`probe` sends ApiVersions behind it: what comes first tells whether it was answered."""
        behind = struct.pack(">hhih", API_VERSIONS, 0, _PROBE_ID, -1)
        frames = (frame, behind) if probe else (frame,)
        if not self._write(on, *frames, patience_s=patience_s):
            return CLOSED
        return self._read(on, self._last_id)

    def _write(self, on: str, *frames: bytes, patience_s: float = PATIENCE_S) -> bool:
        if on not in self._clients:
            self._clients[on] = self._address.connect(patience_s)
        to = self._clients[on].socket
        to.settimeout(patience_s)
        try:
            to.sendall(b"".join(struct.pack(">i", len(one)) + one for one in frames))
        except OSError:
            self._hang_up(on)
            return False
        return True

    def _read(self, on: str, correlation_id: int) -> bytes | str:
        client = self._clients[on]
        try:
            (size,) = struct.unpack(">i", client.receive_exactly(4))
            answer = client.receive_exactly(size)
        except TimeoutError:
            self._hang_up(on)
            return SILENT
        except OSError:
            self._hang_up(on)
            return CLOSED
        (answered,) = struct.unpack_from(">i", answer)
        if answered == _PROBE_ID:
            return SILENT
        assert answered == correlation_id
        return answer

    def _hang_up(self, on: str) -> None:
        self._clients.pop(on).socket.close()

    def close(self) -> None:
        for on in list(self._clients):
            self._hang_up(on)


def _answer_frame(raw: bytes | str) -> bytes:
    assert isinstance(raw, bytes), raw
    return raw


def _response_of(request: Request) -> type[Message]:
    module = type(request).__module__.rpartition(".")[2]
    return message_of(module, "response")


def _body_start(response: type[Message], version: int) -> int:
    tagged = response.is_flexible(version) and response.api_key != API_VERSIONS
    return 5 if tagged else 4
