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
from interfaces.kafka.wire.messages.produce import ProduceRequest
from interfaces.kafka.wire.schema import Message, Request, Response
from tests.e2e.broker_process import Address
from tests.e2e.raw_client import RawClient
from tests.golden.frames import message_of
from tests.oracle.placeholders import Placeholders
from tests.oracle.plain import answer_as_plain, octets, request_as_plain

PATIENCE_S = 20.0
#: For what may be left without an answer.
SHORT_PATIENCE_S = 1.5
CLOSED, SILENT = "the connection is closed", "no answer"
_POLLS = 5_000
_PROBE_ID = 0x7F000000


class Topic(NamedTuple):
    name: str
    topic_id: bytes


class Told(NamedTuple):
    step: str
    request: Any
    answer: Any


class Teller:
    def __init__(self, address: Address, api: str, scenario: str, version: int) -> None:
        self.api, self.scenario, self.version = api, scenario, version
        self.told: list[Told] = []
        self.placeholders = Placeholders()
        self._address = address
        self._client: RawClient | None = None
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
        frame = _answer_frame(self._exchange(request, version, PATIENCE_S))
        return response.decode(version, frame, _body_start(response, version))[0]

    # ---- the play

    def ask(
        self,
        step: str,
        request: Request,
        version: int | None = None,
        patience_s: float = PATIENCE_S,
    ) -> Any:
        """The decoded answer, or None where there is none; `version` where not the scenario's."""
        version = self.version if version is None else version
        plain = request_as_plain(request, self.placeholders)
        raw = self._exchange(request, version, patience_s)
        return self._keep(step, plain, raw, _response_of(request), version)

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

    def _exchange(self, request: Request, version: int, patience_s: float) -> bytes | str:
        body = b"".join(request.encode(version))
        frame = self._head(request.api_key, version, request.is_flexible(version)) + body
        unanswered = isinstance(request, ProduceRequest) and request.acks == 0
        return self._send(frame, patience_s, probe=unanswered)

    def _head(self, key: int, version: int, flexible: bool) -> bytes:
        self._last_id += 1
        name = b"oracle"
        fixed = struct.pack(">hhih", key, version, self._last_id, len(name))
        return fixed + name + (b"\0" if flexible else b"")

    def _send(self, frame: bytes, patience_s: float, probe: bool = False) -> bytes | str:
        """`probe` sends ApiVersions behind it: what comes first tells whether it was answered."""
        client = self._client = self._client or self._address.connect(patience_s)
        client.socket.settimeout(patience_s)
        try:
            client.socket.sendall(struct.pack(">i", len(frame)) + frame)
            if probe:
                behind = struct.pack(">hhih", API_VERSIONS, 0, _PROBE_ID, -1)
                client.socket.sendall(struct.pack(">i", len(behind)) + behind)
            (size,) = struct.unpack(">i", client.receive_exactly(4))
            answer = client.receive_exactly(size)
        except TimeoutError:
            self.close()
            return SILENT
        except OSError:
            self.close()
            return CLOSED
        (correlation_id,) = struct.unpack_from(">i", answer)
        if correlation_id == _PROBE_ID:
            return SILENT
        assert probe or correlation_id == self._last_id
        return answer

    def close(self) -> None:
        if self._client is not None:
            self._client.socket.close()
            self._client = None


def _answer_frame(raw: bytes | str) -> bytes:
    assert isinstance(raw, bytes), raw
    return raw


def _response_of(request: Request) -> type[Message]:
    module = type(request).__module__.rpartition(".")[2]
    return message_of(module, "response")


def _body_start(response: type[Message], version: int) -> int:
    tagged = response.is_flexible(version) and response.api_key != API_VERSIONS
    return 5 if tagged else 4
