"""Runs one scenario, in one version, against one broker, and records its responses."""

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
from tests.oracle.plain import learn_from_request, octets, request_as_plain, response_as_plain

PATIENCE_S = 20.0
#: For requests that may get no response.
SHORT_PATIENCE_S = 1.5
CLOSED, SILENT = "the connection is closed", "no answer"
_POLLS = 5_000
_PROBE_ID = 0x7F000000
#: The connection of requests that are not recorded: it is not behind a pending request.
_SET_UP = "set-up"


#: The own addresses of clients that ACLs tell apart; others have that of the broker.
SOURCES = {
    "describer": "127.0.0.3",
    "stranger": "127.0.0.4",
    "partial": "127.0.0.5",
    "follower": "127.0.0.6",
}


class Topic(NamedTuple):
    name: str
    topic_id: bytes


class Exchange(NamedTuple):
    step: str
    request: Any
    response: Any


class Waiting(NamedTuple):
    """A request that was sent and has no response yet."""

    request: Request
    plain: Any
    version: int
    on: str
    correlation_id: int


class ScenarioRun:
    def __init__(self, address: Address, api: str, scenario: str, version: int) -> None:
        self.api, self.scenario, self.version = api, scenario, version
        self.exchanges: list[Exchange] = []
        self.placeholders = Placeholders()
        self._address = address
        self._clients: dict[str, RawClient] = {}
        self._last_id = 0

    # ---- set-up, not recorded

    def name(self, short: str) -> str:
        """Returns a topic name of this run only; long names sort as the short ones."""
        name = f"{self.api}-{self.scenario}-v{self.version}-{short}".replace("_", "-")
        name = name.replace(" ", "-")
        self.placeholders.add_name(name, short)
        return name

    def topic(self, short: str, partitions: int = 1, **configs: str) -> Topic:
        """Creates a topic and waits for it; max.message.bytes is spelt max_message_bytes."""
        name = self.name(short)
        pairs = {key.replace("_", "."): value for key, value in configs.items()}
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=1,
            assignments=[],
            configs=[CreatableTopicConfig(name=k, value=v) for k, v in pairs.items()],
        )
        response = self.call(CreateTopicsRequest(topics=[topic]), CreateTopicsResponse, 7)
        [created] = response.topics
        assert created.error_code == 0, created
        self.placeholders.add_id(created.topic_id, name)
        self.wait_for_partitions(name, partitions)
        return Topic(name, created.topic_id)

    def wait_for_partitions(self, name: str, partitions: int) -> None:
        """Kafka responds before all its parts know a change; 0 for a deleted topic."""
        with self._address.connect(PATIENCE_S) as client:
            for _ in range(_POLLS):
                if client.usable_partitions(name, max(partitions, 1)) == partitions:
                    return
        raise AssertionError(f"{name} never had {partitions} partitions")

    def call(self, request: Request, response: type[Response], version: int) -> Any:
        """Sends a request that is not recorded."""
        learn_from_request(request, self.placeholders)
        frame = _received(self._exchange(request, version, PATIENCE_S, _SET_UP))
        return response.decode(version, frame, _body_start(response, version))[0]

    def group(self, short: str) -> str:
        """Returns a group id of this run only."""
        return self.name(short)

    def wait_for_group(self, group_id: str, state: str, members: int | None = None) -> None:
        """Waits for the effect of a request on another connection."""
        request = DescribeGroupsRequest(groups=[group_id])
        for _ in range(_POLLS):
            [group] = self.call(request, DescribeGroupsResponse, 5).groups
            if group.group_state == state and members in (None, len(group.members)):
                return
        raise AssertionError(f"{group_id} is {group.group_state} with {len(group.members)} members")

    def wait_for_no_offsets(self, group_id: str) -> None:
        """Kafka removes them some time after their topic."""
        request = OffsetFetchRequest(group_id=group_id, topics=None)
        for _ in range(_POLLS):
            if not self.call(request, OffsetFetchResponse, 5).topics:
                return
        raise AssertionError(f"{group_id} still has offsets")

    # ---- recorded requests

    def send(
        self,
        step: str,
        request: Request,
        version: int | None = None,
        patience_s: float = PATIENCE_S,
        on: str = "",
    ) -> Any:
        """Returns the decoded response, or None without one; `version` replaces the scenario's.

        `on` names a connection, which is opened at its first use.
        """
        version = self.version if version is None else version
        plain = request_as_plain(request, self.placeholders)
        raw = self._exchange(request, version, patience_s, on)
        return self._record(step, plain, raw, _response_of(request), version)

    def begin(self, request: Request, on: str, version: int | None = None) -> Waiting:
        """Sends a request whose response depends on another connection."""
        version = self.version if version is None else version
        plain = request_as_plain(request, self.placeholders)
        assert self._write(on, self._frame_of(request, version))
        return Waiting(request, plain, version, on, self._last_id)

    def end(self, step: str, waiting: Waiting) -> Any:
        raw = self._read(waiting.on, waiting.correlation_id)
        response = _response_of(waiting.request)
        return self._record(step, waiting.plain, raw, response, waiting.version)

    def send_raw(
        self,
        step: str,
        api: str,
        body: bytes,
        version: int | None = None,
        response_version: int | None = None,
        patience_s: float = PATIENCE_S,
    ) -> Any:
        """Sends bytes that our encoder would not write, behind a header of the API and version."""
        version = self.version if version is None else version
        request = message_of(api, "request")
        head = self._head(request.api_key, version, request.is_flexible(version))
        raw = self._round_trip(head + body, patience_s)
        received = version if response_version is None else response_version
        return self._record(step, octets(body), raw, message_of(api, "response"), received)

    def send_frame(self, step: str, frame: bytes) -> None:
        """Sends a whole frame that gets no response."""
        raw = self._round_trip(frame, PATIENCE_S)
        self.exchanges.append(
            Exchange(step, octets(frame), raw if isinstance(raw, str) else octets(raw))
        )

    def _record(
        self, step: str, plain: Any, raw: bytes | str, response: type[Message], version: int
    ) -> Any:
        if isinstance(raw, str):
            self.exchanges.append(Exchange(step, plain, raw))
            return None
        message, end = response.decode(version, raw, _body_start(response, version))
        assert end == len(raw), f"{step}: {len(raw) - end} bytes after the response"
        recorded = response_as_plain(message, version, self.placeholders)
        self.exchanges.append(Exchange(step, plain, recorded))
        return message

    # ---- the wire

    def _exchange(
        self, request: Request, version: int, patience_s: float, on: str = ""
    ) -> bytes | str:
        frame = self._frame_of(request, version)
        no_response = isinstance(request, ProduceRequest) and request.acks == 0
        return self._round_trip(frame, patience_s, no_response, on)

    def _frame_of(self, request: Request, version: int) -> bytes:
        body = b"".join(request.encode(version))
        return self._head(request.api_key, version, request.is_flexible(version)) + body

    def _head(self, key: int, version: int, flexible: bool) -> bytes:
        self._last_id += 1
        name = b"oracle"
        fixed = struct.pack(">hhih", key, version, self._last_id, len(name))
        return fixed + name + (b"\0" if flexible else b"")

    def _round_trip(
        self, frame: bytes, patience_s: float, probe: bool = False, on: str = ""
    ) -> bytes | str:
        """`probe` sends ApiVersions behind it, to detect that the request gets no response."""
        behind = struct.pack(">hhih", API_VERSIONS, 0, _PROBE_ID, -1)
        frames = (frame, behind) if probe else (frame,)
        if not self._write(on, *frames, patience_s=patience_s):
            return CLOSED
        return self._read(on, self._last_id)

    def _write(self, on: str, *frames: bytes, patience_s: float = PATIENCE_S) -> bool:
        if on not in self._clients:
            self._clients[on] = self._address.connect(patience_s, SOURCES.get(on, ""))
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
            message = client.receive_exactly(size)
        except TimeoutError:
            self._hang_up(on)
            return SILENT
        except OSError:
            self._hang_up(on)
            return CLOSED
        (received,) = struct.unpack_from(">i", message)
        if received == _PROBE_ID:
            return SILENT
        assert received == correlation_id
        return message

    def _hang_up(self, on: str) -> None:
        self._clients.pop(on).socket.close()

    def close(self) -> None:
        for on in list(self._clients):
            self._hang_up(on)


def _received(raw: bytes | str) -> bytes:
    assert isinstance(raw, bytes), raw
    return raw


def _response_of(request: Request) -> type[Message]:
    module = type(request).__module__.rpartition(".")[2]
    return message_of(module, "response")


def _body_start(response: type[Message], version: int) -> int:
    tagged = response.is_flexible(version) and response.api_key != API_VERSIONS
    return 5 if tagged else 4
