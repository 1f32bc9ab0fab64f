"""Clients of a raw listener over FakeTransport.

raw = FakeRaw()
producer = raw.producer()
producer.send(b"a", b"b")
raw.run()
assert producer.positions() == [0, 5]
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from infrastructure.storage.memory.store import MemoryStore
from interfaces.connections.limits import ConnectionLimits
from interfaces.raw.session import RawSession
from tests.fakes.broker import FakeBroker, InProcessBroker
from tests.fakes.transport import FakeTransport

TOPIC = "lines"


def framed(*payloads: bytes) -> bytes:
    return b"".join(struct.pack(">I", len(each)) + each for each in payloads)


class RawClient:
    def __init__(self, transport: FakeTransport, session: RawSession) -> None:
        self.transport = transport
        self.session = session

    def send(self, *payloads: bytes) -> None:
        self.transport.send(framed(*payloads))

    def received(self) -> bytes:
        """Since the last call."""
        data = b"".join(self.transport.taken)
        self.transport.taken.clear()
        return data

    def positions(self) -> list[int]:
        return [position for (position,) in struct.iter_unpack(">Q", self.received())]

    def records(self) -> list[bytes]:
        data, found = self.received(), []
        while data:
            (size,) = struct.unpack_from(">I", data)
            found.append(data[4 : 4 + size])
            data = data[4 + size :]
        return found


class RawListener:
    """The raw connections of a broker. `run` runs its loop, and those of brokers beside it."""

    def __init__(self, broker: InProcessBroker, run: Callable[[], None]) -> None:
        assert broker.broker.streams is not None
        self.streams = broker.broker.streams
        self.scheduler = broker.scheduler
        self.events = broker.events
        self.limits = ConnectionLimits(broker.broker, self.scheduler, self.events)
        self._run_loop = run

    def connect(self, first: bytes = b"", address: str = "192.0.2.7") -> RawClient:
        transport = FakeTransport(self.scheduler, peername=(address, 40001))
        session = RawSession(self.limits, next(self.limits.connection_ids), "raw", self.streams)
        transport.connect(session)
        if first:
            transport.send(first)
        return RawClient(transport, session)

    def producer(self) -> RawClient:
        return self.connect(b"\1")

    def consumer(self, start: int = 0) -> RawClient:
        """The broker has run until it is idle."""
        client = self.connect(b"\2" + struct.pack(">Q", start))
        self._run_loop()
        return client

    def produce(self, *payloads: bytes) -> list[int]:
        """One batch of a producer of its own; returns the positions."""
        client = self.producer()
        client.send(*payloads)
        self._run_loop()
        positions = client.positions()
        client.transport.drop()
        self._run_loop()
        return positions

    def why_closed(self) -> list[str]:
        return [str(line["reason"]) for line in self.events.of("connection_closed")]


class FakeRaw(FakeBroker, RawListener):
    """The fake broker with a raw listener for TOPIC."""

    def __init__(self, store: MemoryStore | None = None, **settings: str) -> None:
        given = {"raw_listeners": ":0", "raw_topic": TOPIC} | settings
        FakeBroker.__init__(self, store, **given)
        RawListener.__init__(self, self, self.run)

    def restarted(self) -> FakeRaw:
        self.close()
        given = {name.replace(".", "_"): value for name, value in self.config.given.items()}
        return FakeRaw(self.store, **given)
