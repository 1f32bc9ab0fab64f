"""What raw producers sent and were told, and the stream that is read after each death."""

from __future__ import annotations

import random
import select
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress

from tests.crash.broker import Broker
from tests.crash.ledger import Broken
from tests.e2e.raw_client import PRODUCE, RawClient, batch, produce_body, read_produced

TOPIC = "raw"
SETTINGS = (f"raw.topic={TOPIC}", "raw.listeners=127.0.0.1:0")
#: Records of a producer without a position.
IN_FLIGHT = 200
#: Together, so that the whole stream is read quickly.
MOST_RECORDS = 3000
PATIENCE_S = 20.0
PRODUCER, CONSUMER = b"\1", b"\2"
_LENGTH, _POSITION = struct.Struct(">I"), struct.Struct(">Q")


class RawProducer:
    """Sends records without waiting; the positions that it receives are those of its oldest."""

    def __init__(self, ledger: StreamLedger, port: int) -> None:
        self._ledger = ledger
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        self._out = bytearray(PRODUCER)
        self._received = b""
        self._unplaced: list[bytes] = []

    def send(self) -> None:
        while len(self._unplaced) < IN_FLIGHT and len(self._ledger.sent) < self._ledger.most:
            value = self._ledger.next_value()
            self._unplaced.append(value)
            self._out += _LENGTH.pack(len(value)) + value
        with suppress(BlockingIOError):
            while self._out:
                del self._out[: self.socket.send(self._out, socket.MSG_DONTWAIT)]

    def receive(self) -> None:
        """Raises ConnectionError at the end."""
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionResetError
        self._received += data
        whole = len(self._received) // 8
        for (position,) in _POSITION.iter_unpack(self._received[: whole * 8]):
            self._ledger.acknowledges(position, self._unplaced.pop(0))
        self._received = self._received[whole * 8 :]


class KafkaProducer:
    """Sends one batch after the other to the same topic."""

    def __init__(self, ledger: StreamLedger, port: int) -> None:
        self._ledger = ledger
        self._client = RawClient("127.0.0.1", port, PATIENCE_S)
        self.socket = self._client.socket
        self._values: list[bytes] = []

    def send(self) -> None:
        if not self._values and len(self._ledger.sent) < self._ledger.most:
            count = self._ledger.chance.randint(1, 5)
            self._values = [self._ledger.next_value() for _ in range(count)]
            self._client.send(PRODUCE, 7, produce_body(TOPIC, 0, batch(self._values)))

    def receive(self) -> None:
        _, response = self._client.receive()
        produced = read_produced(response)
        if produced.error:
            raise Broken(f"the batch of a Kafka producer is refused: {produced.error}")
        self._ledger.stored.update(self._values)
        self._values = []


Line = RawProducer | KafkaProducer


class StreamLedger:
    def __init__(self, broker: Broker, chance: random.Random, most: int = MOST_RECORDS) -> None:
        self.broker, self.chance, self.most = broker, chance, most
        self.sent: set[bytes] = set()
        #: Values by their positions: acknowledged, and read.
        self.acknowledged: dict[int, bytes] = {}
        self.seen: dict[int, bytes] = {}
        #: Acknowledged to Kafka producers.
        self.stored: set[bytes] = set()
        self._number = 0

    def next_value(self) -> bytes:
        self._number += 1
        padding = self.chance.choice([0, 0, 10, 10, 10, 500, 9000])
        value = b"%d:" % self._number + bytes(padding)
        self.sent.add(value)
        return value

    def acknowledges(self, position: int, value: bytes) -> None:
        if self.acknowledged.setdefault(position, value) != value:
            raise Broken(f"two records are acknowledged at {position}")

    # ---- one run

    def create_topic(self) -> None:
        with RawClient("127.0.0.1", self.broker.port, PATIENCE_S) as client:
            assert client.create_topic(TOPIC) == 0

    def produce(self, raw: int, kafka: int, seconds: float, until_it_dies: bool) -> None:
        """Several producers at once, until the time is over or the broker dies."""
        self.most = len(self.sent) + MOST_RECORDS
        with ExitStack() as sockets:
            lines: list[Line] = []
            with suppress(ConnectionError):  # it died at its point
                for _ in range(raw):
                    lines.append(RawProducer(self, self.broker.raw_ports[0]))
                    sockets.enter_context(lines[-1].socket)
                for _ in range(kafka):
                    lines.append(KafkaProducer(self, self.broker.port))
                    sockets.enter_context(lines[-1].socket)
                self._produce(lines, PATIENCE_S if until_it_dies else seconds)
            if not until_it_dies:
                self.broker.kill()
            for line in lines:
                with suppress(ConnectionError):
                    while True:  # what arrived before the end
                        line.receive()

    def _produce(self, lines: Sequence[Line], seconds: float) -> None:
        by_socket = {line.socket: line for line in lines}
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for line in lines:
                line.send()
            for ready in select.select(list(by_socket), [], [], 0.005)[0]:
                by_socket[ready].receive()

    # ---- after a restart

    def check(self) -> None:
        there = dict(self._read(0))
        for position, value in there.items():
            if value not in self.sent:
                raise Broken(f"no client sent the record at {position}")
            if self.seen.setdefault(position, value) != value:
                raise Broken(f"the record at {position} has changed")
        for known in (self.seen, self.acknowledged):
            for position, value in known.items():
                if there.get(position) != value:
                    raise Broken(f"the record at {position} is lost, or elsewhere")
        if missing := self.stored - set(there.values()):
            raise Broken(f"{len(missing)} records of Kafka producers are not in the stream")
        if there:
            start = self.chance.choice(list(there))
            later = list(self._read(start))[:-1]
            if later != [(at, value) for at, value in there.items() if at >= start]:
                raise Broken(f"from {start} on other records are read")

    def _read(self, start: int) -> Iterator[tuple[int, bytes]]:
        """Up to the last record of the log: a marker of this reader's own."""
        end = b"end %d" % len(self.sent)
        while end in self.sent:
            end += b"."
        self.sent.add(end)
        with RawClient("127.0.0.1", self.broker.port, PATIENCE_S) as client:
            if client.produce(TOPIC, batch([end])).error:
                raise Broken("the last batch is refused")
        with RawClient("127.0.0.1", self.broker.raw_ports[0], PATIENCE_S) as consumer:
            consumer.socket.sendall(CONSUMER + _POSITION.pack(start))
            value = b""
            while value != end:
                (size,) = _LENGTH.unpack(consumer.receive_exactly(_LENGTH.size))
                value = consumer.receive_exactly(size)
                yield start, value
                start += _LENGTH.size + size
