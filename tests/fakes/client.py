"""A Kafka client that talks to a real Session over a FakeTransport, with our messages.

kafka = FakeKafka()
response = kafka.client().request(MetadataRequest(topics=None), 12)
"""

from __future__ import annotations

import struct
from importlib import import_module
from typing import Any

from application.ports.request_log import RequestLog
from domain.configs.broker import BrokerConfig
from domain.configs.listener_security import ListenerSecurity, SecurityProtocol
from infrastructure.storage.memory.store import MemoryStore
from interfaces.kafka.connections.session import Session
from interfaces.kafka.connections.shared import Shared
from interfaces.kafka.requests.gate import Wrap
from interfaces.kafka.wire.headers import API_VERSIONS
from interfaces.kafka.wire.schema import Message, Request
from tests.fakes.broker import FakeBroker, InProcessBroker
from tests.fakes.copies import FakeCopies
from tests.fakes.logs import FakeRequestLog
from tests.fakes.transport import FakeTransport

LISTENER = "PLAINTEXT"
UNSECURED = ListenerSecurity(LISTENER, SecurityProtocol.PLAINTEXT, BrokerConfig())


def frame(
    request: Request, version: int, correlation_id: int = 0, client_id: str | None = "a-client"
) -> bytes:
    body = b"".join(request.encode(version))
    return raw_frame(
        request.api_key, version, body, correlation_id, client_id, request.is_flexible(version)
    )


def raw_frame(
    key: int,
    version: int,
    body: bytes,
    correlation_id: int = 0,
    client_id: str | None = "a-client",
    flexible: bool = False,
) -> bytes:
    header = struct.pack(">hhi", key, version, correlation_id)
    raw_id = None if client_id is None else client_id.encode()
    header += struct.pack(">h", -1) if raw_id is None else struct.pack(">h", len(raw_id)) + raw_id
    if flexible:
        header += b"\0"
    return struct.pack(">i", len(header) + len(body)) + header + body


def response_type(request: Request) -> type[Message]:
    messages = import_module(type(request).__module__)
    found: type[Message] = getattr(messages, type(request).__name__.replace("Request", "Response"))
    return found


class FakeClient:
    def __init__(self, listener: FakeListener, transport: FakeTransport, session: Session) -> None:
        self._listener = listener
        self.transport = transport
        self.session = session
        self._next_correlation_id = 1
        self._requests: list[tuple[int, Request, int]] = []
        self._received = b""

    def send(self, request: Request, version: int) -> int:
        """Sends without waiting; returns the correlation id."""
        correlation_id = self._next_correlation_id
        self._next_correlation_id += 1
        self._requests.append((correlation_id, request, version))
        self.transport.send(frame(request, version, correlation_id))
        return correlation_id

    def request(self, request: Request, version: int) -> Any:
        """Sends, runs the loop until it is idle, and returns the one response."""
        self.send(request, version)
        self._listener.scheduler.run()
        responses = self.responses()
        assert len(responses) == 1, responses
        return responses[0]

    def frames(self) -> list[bytes]:
        """Complete responses since the last call, without their length."""
        self._received += b"".join(self.transport.taken)
        self.transport.taken.clear()
        found = []
        while len(self._received) >= 4:
            (size,) = struct.unpack_from(">i", self._received)
            if len(self._received) < 4 + size:
                break
            found.append(self._received[4 : 4 + size])
            self._received = self._received[4 + size :]
        return found

    def responses(self) -> list[Any]:
        """Decoded responses; each must belong to the oldest open request."""
        found = []
        for one in self.frames():
            (correlation_id,) = struct.unpack_from(">i", one)
            while self._requests[0][0] != correlation_id:
                assert _expects_nothing(self._requests[0][1]), "a response out of order"
                self._requests.pop(0)
            _, request, version = self._requests.pop(0)
            flexible = request.is_flexible(version) and request.api_key != API_VERSIONS
            message, end = response_type(request).decode(version, one, 5 if flexible else 4)
            assert end == len(one), "bytes after the response"
            found.append(message)
        return found

    @property
    def closed(self) -> bool:
        return self.transport.closing

    def why_closed(self) -> str:
        """The reasons that the log has for the end of this connection."""
        connection_id = self.session.client.connection_id
        lines = self._listener.events.of("connection_closed")
        return " ".join(
            str(line["reason"]) for line in lines if line["connection_id"] == connection_id
        )


def _expects_nothing(request: Request) -> bool:
    return getattr(request, "acks", None) == 0


class FakeListener:
    """The sessions of one listener."""

    def __init__(
        self,
        broker: InProcessBroker,
        request_log: RequestLog,
        faulty: Wrap | None = None,
    ) -> None:
        self.scheduler = broker.scheduler
        self.events = broker.events
        self.shared = Shared(broker.broker, self.scheduler, self.events, request_log, faulty)
        self.shared.listeners.append(LISTENER)

    def client(self, address: str = "192.0.2.7") -> FakeClient:
        transport = FakeTransport(self.scheduler, peername=(address, 40001))
        session = self._session(next(self.shared.connection_ids))
        transport.connect(session)
        return FakeClient(self, transport, session)

    def _session(self, connection_id: int) -> Session:
        return Session(self.shared, connection_id, LISTENER)


class InProcessKafka(InProcessBroker, FakeListener):
    """The real broker with sessions; the request log is off by default."""

    def __init__(
        self, storage: str = "memory://", request_log: RequestLog | None = None, **settings: str
    ) -> None:
        InProcessBroker.__init__(self, storage, **settings)
        FakeListener.__init__(self, self, request_log or FakeRequestLog())


class FakeKafka(FakeBroker, FakeListener):
    """The fake broker with sessions."""

    def __init__(
        self,
        request_log: FakeRequestLog | None = None,
        store: MemoryStore | None = None,
        copies: FakeCopies | None = None,
        **settings: str,
    ) -> None:
        FakeBroker.__init__(self, store, copies, **settings)
        self.request_log = request_log or FakeRequestLog()
        FakeListener.__init__(self, self, self.request_log)
