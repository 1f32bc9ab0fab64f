"""A broker in this process, wired as in production, with what a test holds in its own hands.

The scheduler runs when told to, the transports keep what is sent, and the request log is off
unless asked for. Everything between a received byte and a stored batch is the real thing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from application.broker import Broker
from application.ports.event_log import EventLog
from domain.configs.broker import BrokerConfig
from infrastructure.observability.request_log import StructuredRequestLog
from interfaces.kafka.listener import Advertised, Shared
from interfaces.kafka.session import Session
from interfaces.main.container.services import ServicesContainer
from interfaces.main.container.storage import StorageContainer

LISTENER = "PLAINTEXT"


class HandScheduler:
    """`run` is the end of a pass of the loop, `run_round` only what was asked for by now."""

    def __init__(self) -> None:
        self._soon: list[Callable[[], None]] = []
        self.timers: list[HandTimer] = []

    def soon(self, callback: Callable[[], None]) -> None:
        self._soon.append(callback)

    def after_ms(self, delay_ms: int, callback: Callable[[], None]) -> HandTimer:
        timer = HandTimer(delay_ms, callback)
        self.timers.append(timer)
        return timer

    def run(self) -> None:
        while self._soon:
            self.run_round()

    def run_round(self) -> None:
        callbacks, self._soon = self._soon, []
        for callback in callbacks:
            callback()


class HandTimer:
    def __init__(self, delay_ms: int, callback: Callable[[], None]) -> None:
        self.delay_ms = delay_ms
        self.callback = callback
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class KeptEvents:
    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, object]]] = []

    def info(self, event: str, **fields: object) -> None:
        self.lines.append(("info", event, fields))

    def warning(self, event: str, **fields: object) -> None:
        self.lines.append(("warning", event, fields))

    def error(self, event: str, **fields: object) -> None:
        self.lines.append(("error", event, fields))


class KeptTransport:
    """What an asyncio transport is to a session; the other end is the test."""

    def __init__(self, port: int) -> None:
        self._names = {"peername": ("127.0.0.1", port), "sockname": ("127.0.0.1", 9092)}
        self.sent: list[bytes] = []
        self.closed = False
        self.reading = True

    def get_extra_info(self, name: str) -> tuple[str, int]:
        return self._names[name]

    def set_write_buffer_limits(self, high: int) -> None:
        pass

    def write(self, data: bytes) -> None:
        self.sent.append(bytes(data))

    def writelines(self, pieces: list[bytes | memoryview]) -> None:
        self.sent.append(b"".join(pieces))

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def close(self) -> None:
        self.closed = True

    abort = close


class Client:
    """One connection: gives frames to its session as the loop would, and takes the answers."""

    def __init__(self, session: Session, transport: KeptTransport) -> None:
        self.session = session
        self.transport = transport

    def receive(self, data: bytes) -> None:
        """One read from the socket; `data` is to be no larger than the read buffer."""
        buffer = memoryview(self.session.get_buffer(-1))
        buffer[: len(data)] = data
        self.session.buffer_updated(len(data))

    def take(self) -> bytes:
        """All that was sent since the last time."""
        sent, self.transport.sent = self.transport.sent, []
        return b"".join(sent)


class InProcessBroker:
    def __init__(
        self,
        storage: str = "memory://",
        flush: str = "os",
        log_requests: str = "off",
        events: EventLog | None = None,
        **settings: str,
    ) -> None:
        self.scheduler = HandScheduler()
        self.events = events or KeptEvents()
        config = BrokerConfig({name.replace("_", "."): text for name, text in settings.items()})
        self._storage: Any = StorageContainer(url=storage, flush=flush)
        services: Any = ServicesContainer(
            config=config, scheduler=self.scheduler, storage=self._storage
        )
        self.broker: Broker = services.broker()
        request_log = StructuredRequestLog(self.events, log_requests, 1000, 1)
        self.shared = Shared(self.broker, self.scheduler, self.events, request_log)
        self.shared.advertise(Advertised(LISTENER))
        self._next_port = 40_000

    def connect(self) -> Client:
        self._next_port += 1
        transport = KeptTransport(self._next_port)
        session = Session(self.shared, next(self.shared.connection_ids), LISTENER)
        session.connection_made(cast(asyncio.Transport, transport))
        return Client(session, transport)

    def end_pass(self) -> None:
        self.scheduler.run()

    def close(self) -> None:
        self._storage.commit().close()
