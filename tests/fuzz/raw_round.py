"""A round of raw connections, drawn from a seed: the real sessions, services and store.

Records are whole, cut, or of a wrong length; bytes come in pieces of any size; clients stop reading
and vanish. As positions are bytes, the stream of a round is one string of bytes, and each response
follows from it.
"""

from __future__ import annotations

import random
import struct
from itertools import pairwise
from typing import Any

from interfaces.raw.session import RawSession
from tests.fakes.batches import GZIP, NONE, record_batch
from tests.fakes.client import InProcessKafka
from tests.fakes.transport import FakeTransport

MAX_RECORD_BYTES = 200_000
#: What a batch adds to a record.
OVERHEAD_BYTES = 100
SETTINGS: dict[str, Any] = {
    "raw_listeners": "127.0.0.1:0",
    "raw_topic": "raw",
    "message_max_bytes": str(MAX_RECORD_BYTES),
    "queued_max_request_bytes": "300000",
    "connection_unsent_max_bytes": "20000",
    "queued_max_response_bytes": "1000000",
}
CONNECTIONS, EVENTS = 5, 40
PRODUCER, CONSUMER = 1, 2
#: Longer than any record of a connection waits for memory.
LONG_MS = 120_000
LENGTH, POSITION = struct.Struct(">I"), struct.Struct(">Q")
#: Why a valid connection may be closed: unread bytes, and half records while others wait.
FORESEEN = ("slow_reader", "slow_request", "incomplete_request")


class Client:
    """One connection: the bytes in both directions, and what they must be."""

    def __init__(self, kafka: InProcessKafka) -> None:
        assert kafka.broker.streams is not None
        self._kafka = kafka
        number = next(kafka.shared.connection_ids)
        self.session = RawSession(kafka.shared, number, "RAW", kafka.broker.streams)
        # Reasons are logged once a minute for each host.
        peer = f"10.0.{number >> 8}.{number & 255}", 40001
        self.transport = FakeTransport(kafka.scheduler, peername=peer)
        self.transport.connect(self.session)
        self.sent = b""
        self.is_deaf = self.has_left = False

    def leave(self) -> None:
        self.has_left = self.has_left or not self.transport.closing
        self.transport.drop()

    @property
    def is_closed(self) -> bool:
        """By the broker."""
        return self.transport.closing and not self.has_left

    def send(self, data: bytes, piece: int) -> None:
        self.sent += data
        piece = max(piece, len(data) // 300)
        for start in range(0, len(data), piece):
            self.transport.send(data[start : start + piece])

    def read_on(self) -> None:
        if self.is_deaf:
            self.is_deaf = False
            self.transport.read_on()

    @property
    def received(self) -> bytes:
        return b"".join(self.transport.taken)

    @property
    def reason(self) -> str:
        lines = self._kafka.events.of("connection_closed")
        mine = [one for one in lines if one["connection_id"] == self.session.client.connection_id]
        return str(mine[0]["reason"]) if mine else ""

    def records(self) -> tuple[list[bytes], bool]:
        """What a producer has sent as a whole, and whether what follows is no record."""
        found: list[bytes] = []
        at = 1
        while at + LENGTH.size <= len(self.sent):
            (size,) = LENGTH.unpack_from(self.sent, at)
            if size > MAX_RECORD_BYTES:
                return found, True
            at += LENGTH.size
            if at + size > len(self.sent):
                break
            found.append(self.sent[at : at + size])
            at += size
        return found, False

    @property
    def waits_for_memory(self) -> bool:
        return self.session.connection.needs_bytes > 0

    def check_illegal(self) -> None:
        if self.sent and self.sent[0] == PRODUCER and self.records()[1]:
            assert self.transport.closing, "a length over the limit did not close the connection"

    def check(self, stream: bytes, is_over: bool) -> None:
        """`is_over`: the client has read all, and nothing waits."""
        role = self.sent[0] if self.sent else None
        if role == PRODUCER:
            self._check_producer(stream, is_over)
        elif role == CONSUMER:
            self._check_consumer(stream, is_over)
        elif role is not None:
            assert self.is_closed and not self.received
        else:
            assert not self.is_closed and not self.received

    def _check_producer(self, stream: bytes, is_over: bool) -> None:
        records, illegal = self.records()
        assert len(self.received) % POSITION.size == 0 or not is_over
        whole = len(self.received) // POSITION.size * POSITION.size
        positions = [at for (at,) in POSITION.iter_unpack(self.received[:whole])]
        for position, record in zip(positions, records, strict=False):
            framed = LENGTH.pack(len(record)) + record
            assert stream[position : position + len(framed)] == framed, "another record"
        assert all(before < after for before, after in pairwise(positions))
        assert len(positions) <= len(records)
        if not is_over:
            return
        refused = [len(one) > MAX_RECORD_BYTES - OVERHEAD_BYTES for one in records]
        if True in refused and self.reason == "record_refused":
            return  # with what came in the same read
        if self.is_closed:
            assert illegal or self.reason in FORESEEN, self.reason
        if self.reason not in FORESEEN:
            assert len(positions) == len(records), "a record without a position"
            assert self.is_closed == illegal

    def _check_consumer(self, stream: bytes, is_over: bool) -> None:
        if len(self.sent) < 1 + POSITION.size:
            assert not self.is_closed and not self.received
            return
        (start,) = POSITION.unpack_from(self.sent, 1)
        received = self.received
        assert received == stream[start : start + len(received)], "other records"
        if start not in starts_of(stream):
            assert not received
            assert not is_over or self.is_closed
        elif is_over and len(self.sent) == 1 + POSITION.size and not self.reason:
            assert received == stream[start:], "records are missing"
        elif is_over and len(self.sent) > 1 + POSITION.size:
            assert self.is_closed


def starts_of(stream: bytes) -> set[int]:
    starts, at = {0}, 0
    while at < len(stream):
        at += LENGTH.size + LENGTH.unpack_from(stream, at)[0]
        starts.add(at)
    return starts


class RawRound:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.kafka = InProcessKafka("memory://", **SETTINGS)
        self.kafka.topic("raw")
        self.healthy = Client(self.kafka)
        self.healthy.send(bytes([PRODUCER]), 1)
        self.clients: list[Client | None] = [None] * CONNECTIONS
        #: All that were there.
        self.gone: list[Client] = []
        self._heard = 0

    def run(self, events: int = EVENTS) -> None:
        for _ in range(events):
            self._happen()
            self._round_trip()
            assert not self.kafka.events.of("stream_batch_skipped")
        self._end()

    def _happen(self) -> None:
        chance = self.chance
        index = chance.randrange(CONNECTIONS)
        client = self.clients[index]
        if client is None or client.transport.closing:
            if client is not None:
                client.read_on()
                self.gone.append(client)
            client = self.clients[index] = Client(self.kafka)
        drawn = chance.random()
        if drawn < 0.05:
            client.leave()
            self.gone.append(client)
            self.clients[index] = None
        elif drawn < 0.12 and not client.is_deaf:
            client.is_deaf = True
            client.transport.stop_reading()
        elif drawn < 0.3:
            client.read_on()
        elif drawn < 0.4:
            rows = [chance.randbytes(chance.choice([0, 1, 30, 3000])) for _ in range(3)]
            values = [one.hex() for one in rows]
            self.kafka.append(record_batch(values, codec=chance.choice([NONE, GZIP])), "raw")
        else:
            client.send(self._bytes(client), chance.choice([1, 3, 100, 5000, 1 << 20]))
        self.kafka.run()
        if not (client.is_deaf or client.waits_for_memory):
            client.check_illegal()

    def _bytes(self, client: Client) -> bytes:
        chance = self.chance
        begin = b""
        if not client.sent:
            role = chance.choice([PRODUCER] * 5 + [CONSUMER] * 4 + [chance.randrange(256)])
            begin = bytes([role])
        if (begin or client.sent)[0] == CONSUMER:
            known = sorted(starts_of(self._stream()))
            start = max(chance.choice(known) + chance.choice([0] * 8 + [1, -1, 10**6, 2**62]), 0)
            begin += POSITION.pack(start)
            return begin[: chance.choice([1, 5, 9, 9, 9, 9, 9])]
        for _ in range(chance.choice([0, 1, 1, 3, 40])):
            size = chance.choice([0, 1, 10, 10, 63, 64, 300, 5000, 50_000, 140_000])
            size = chance.choice([size] * 12 + [MAX_RECORD_BYTES])
            begin += LENGTH.pack(size) + chance.randbytes(min(size, 20)) + bytes(max(size - 20, 0))
            if len(begin) > 400_000:
                break
        drawn = chance.random()
        if drawn < 0.15:
            begin = begin[: chance.randrange(len(begin) + 1)]
        elif drawn < 0.25:
            begin += chance.randbytes(chance.randrange(30))
        elif drawn < 0.35:
            edge = MAX_RECORD_BYTES + 1
            begin += LENGTH.pack(chance.choice([edge, edge, 2**31 - 1, 2**31, 2**32 - 1]))
        return begin

    def _round_trip(self) -> None:
        """A healthy producer, in the same commits as the others."""
        value = b"healthy %d" % self._heard
        self.healthy.send(LENGTH.pack(len(value)) + value, 1 << 20)
        self.kafka.run()
        self._heard += 1
        assert len(self.healthy.received) == POSITION.size * self._heard, "a healthy producer"

    def _stream(self) -> bytes:
        """All of it, by a consumer that reads."""
        reader = Client(self.kafka)
        reader.send(bytes([CONSUMER]) + POSITION.pack(0), 1 << 20)
        self.kafka.run()
        reader.transport.drop()
        self.kafka.run()
        return reader.received

    def _end(self) -> None:
        there = [client for client in self.clients if client is not None]
        stream = self._stream()
        for client in self.gone:
            client.check(stream, is_over=False)
        # Those with a part of a record leave first: others may wait for its memory.
        waits = [one for one in there if one.waits_for_memory]
        for client in (one for one in there if one not in waits):
            client.read_on()
            self.kafka.run()
            client.check(self._stream(), is_over=not waits)
            client.leave()
            self.kafka.run()
        for client in waits:
            assert client.session.connection.needs_bytes <= MAX_RECORD_BYTES, "an illegal length"
            client.read_on()
            self.kafka.scheduler.advance(LONG_MS)
            client.leave()
            self.kafka.run()
        self.healthy.check(self._stream(), is_over=True)
        self.healthy.transport.drop()
        self.kafka.run()
        shared = self.kafka.shared
        assert not shared.sessions, "sessions without connections"
        assert (shared.memory.used_bytes, len(shared.memory)) == (0, 0), "memory is held"
        assert self.kafka.broker.streams is not None
        open_stream = self.kafka.broker.streams._stream
        assert open_stream is not None
        assert not open_stream._followers and not open_stream._appended, "clients are remembered"
        assert not self.kafka.events.of("request_failed")

    def close(self) -> None:
        self.kafka.close()
