"""A client over one socket, for tests that control each byte.

Written by hand in versions that are not flexible, without Ottla's codec, so that the two cannot
share a mistake.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

import crc32c

PRODUCE, FETCH, LIST_OFFSETS, METADATA, API_VERSIONS = 0, 1, 2, 3, 18
CREATE_TOPICS, INIT_PRODUCER_ID, DESCRIBE_LOG_DIRS = 19, 22, 35
NOT_LEADER_OR_FOLLOWER = 6
COORDINATOR_LOAD_IN_PROGRESS = 14
NO_PRODUCER = (-1, -1, -1)
PATIENCE_S = 30.0


class Fetched(NamedTuple):
    error: int
    high_watermark: int
    records: bytes


class Produced(NamedTuple):
    error: int
    base_offset: int


def string(text: str | None) -> bytes:
    if text is None:
        return struct.pack(">h", -1)
    raw = text.encode()
    return struct.pack(">h", len(raw)) + raw


def array(items: Iterable[bytes]) -> bytes:
    pieces = list(items)
    return struct.pack(">i", len(pieces)) + b"".join(pieces)


def frame(
    key: int, version: int, correlation_id: int, body: bytes, client_id: str = "raw"
) -> bytes:
    payload = struct.pack(">hhi", key, version, correlation_id) + string(client_id) + body
    return struct.pack(">i", len(payload)) + payload


def varint(value: int) -> bytes:
    zigzag = (value << 1) ^ (value >> 63)
    out = bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    out.append(zigzag)
    return bytes(out)


def record(offset_delta: int, value: bytes | None, key: bytes | None = None) -> bytes:
    def field(data: bytes | None) -> bytes:
        return varint(-1) if data is None else varint(len(data)) + data

    body = b"\0" + varint(0) + varint(offset_delta) + field(key) + field(value) + varint(0)
    return varint(len(body)) + body


def batch(
    values: Sequence[bytes],
    *,
    timestamp_ms: int | None = None,
    producer: tuple[int, int, int] = NO_PRODUCER,
) -> bytes:
    """A record batch v2 of now; `producer` is its id, epoch and first sequence."""
    stamp = int(time.time() * 1000) if timestamp_ms is None else timestamp_ms
    sealed = struct.pack(
        ">hiqqqhii",
        0,
        len(values) - 1,
        stamp,
        stamp,
        *producer,
        len(values),
    ) + b"".join(record(delta, value) for delta, value in enumerate(values))
    head = struct.pack(">ibI", -1, 2, crc32c.crc32c(sealed))
    return struct.pack(">qi", 0, len(head) + len(sealed)) + head + sealed


def sealed_part(one_batch: bytes) -> bytes:
    """What a broker may not touch: everything after base offset, length and leader epoch."""
    return one_batch[16:]


def split_batches(records: bytes) -> list[tuple[int, bytes]]:
    """Each whole batch of a Fetch response, with its base offset."""
    found, position = [], 0
    while position + 12 <= len(records):
        base_offset, length = struct.unpack_from(">qi", records, position)
        end = position + 12 + length
        if end > len(records):
            break
        found.append((base_offset, records[position:end]))
        position = end
    return found


def produce_body(
    topic: str, partition: int, records: bytes, acks: int = -1, timeout_ms: int = 30_000
) -> bytes:
    data = struct.pack(">ii", partition, len(records)) + records
    numbers = struct.pack(">hi", acks, timeout_ms)
    return string(None) + numbers + array([string(topic) + array([data])])


def fetch_body(
    topic: str,
    partition: int,
    offset: int,
    *,
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 50 << 20,
) -> bytes:
    requested = struct.pack(">iqi", partition, offset, max_bytes)
    limits = struct.pack(">iiiib", -1, max_wait_ms, min_bytes, max_bytes, 0)
    return limits + array([string(topic) + array([requested])])


class Reader:
    """Reads the fields of a response."""

    def __init__(self, data: bytes) -> None:
        self.data, self.position = data, 0

    def take(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from(">" + layout, self.data, self.position)
        self.position += struct.calcsize(">" + layout)
        return values

    def blob(self, length: int) -> bytes:
        start, self.position = self.position, self.position + max(length, 0)
        return self.data[start : self.position]

    def string(self) -> str:
        return self.blob(self.take("h")[0]).decode()

    def rest(self) -> bytes:
        return self.data[self.position :]


class RawClient:
    def __init__(
        self, host: str, port: int, patience_s: float = PATIENCE_S, source: str = ""
    ) -> None:
        self.socket = socket.create_connection((host, port), patience_s, (source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.next_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        self.socket.close()

    def send(self, key: int, version: int, body: bytes = b"") -> int:
        self.next_id += 1
        self.socket.sendall(frame(key, version, self.next_id, body))
        return self.next_id

    def receive_exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = self.socket.recv(min(count - len(data), 1 << 20))
            if not piece:
                raise ConnectionResetError(f"closed after {len(data)} of {count} bytes")
            data += piece
        return bytes(data)

    def receive(self) -> tuple[int, Reader]:
        (length,) = struct.unpack(">i", self.receive_exactly(4))
        response = Reader(self.receive_exactly(length))
        (correlation_id,) = response.take("i")
        return correlation_id, response

    def request(self, key: int, version: int, body: bytes = b"") -> Reader:
        sent = self.send(key, version, body)
        correlation_id, response = self.receive()
        assert correlation_id == sent
        return response

    def is_closed_by_peer(self) -> bool:
        """Waits for the end of the stream; anything that still arrives before it is dropped."""
        try:
            while self.socket.recv(1 << 16):
                pass
        except ConnectionResetError:
            pass
        except TimeoutError:
            return False
        return True

    def api_versions(self) -> dict[int, tuple[int, int]]:
        response = self.request(API_VERSIONS, 0)
        error, count = response.take("hi")
        assert error == 0
        rows = [response.take("hhh") for _ in range(count)]
        return {key: (low, high) for key, low, high in rows}

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        configs: dict[str, str] | None = None,
        replicas: Sequence[Sequence[int]] = (),
    ) -> int:
        """`replicas` of each partition, the leader first; the broker places the others."""
        placed = array(
            struct.pack(">i", partition) + array(struct.pack(">i", node) for node in nodes)
            for partition, nodes in enumerate(replicas)
        )
        counts = struct.pack(">ih", *((-1, -1) if replicas else (partitions, 1)))
        pairs = array(string(k) + string(v) for k, v in (configs or {}).items())
        topic = string(name) + counts + placed + pairs
        response = self.request(
            CREATE_TOPICS, 2, array([topic]) + struct.pack(">i?", 30_000, False)
        )
        response.take("ii")
        response.string()
        return response.take("h")[0]

    def usable_partitions(self, topic: str, partitions: int) -> int:
        """The number of partitions of the topic that respond."""
        found = (self.list_offset(topic, partition, -1) for partition in range(partitions))
        return sum(error == 0 for error, _ in found)

    def produce(self, topic: str, records: bytes, partition: int = 0, acks: int = -1) -> Produced:
        return read_produced(
            self.request(PRODUCE, 7, produce_body(topic, partition, records, acks))
        )

    def fetch(self, topic: str, offset: int, partition: int = 0, **limits: int) -> Fetched:
        return read_fetched(self.request(FETCH, 4, fetch_body(topic, partition, offset, **limits)))

    def fetch_everything(self, topic: str, partition: int = 0) -> list[tuple[int, bytes]]:
        """Every batch from the beginning up to the high watermark of the first response."""
        batches: list[tuple[int, bytes]] = []
        response = self.fetch(topic, 0, partition)
        end, position = response.high_watermark, 0
        while position < end:
            batches += split_batches(response.records)
            last, raw = batches[-1]
            position = last + struct.unpack_from(">i", raw, 23)[0] + 1
            response = self.fetch(topic, position, partition)
        return batches

    def log_bytes(self, topic: str, partition: int = 0) -> int:
        """The size of the log by DescribeLogDirs."""
        wanted = array([string(topic) + array([struct.pack(">i", partition)])])
        response = self.request(DESCRIBE_LOG_DIRS, 1, wanted)
        _throttle, _dirs, error = response.take("iih")
        assert error == 0
        response.string(), response.take("i"), response.string()
        _partitions, _index, size = response.take("iiq")
        return size

    def init_producer_id(self) -> tuple[int, int]:
        error = COORDINATOR_LOAD_IN_PROGRESS
        while error == COORDINATOR_LOAD_IN_PROGRESS:  # Apache Kafka, when it has just started
            response = self.request(INIT_PRODUCER_ID, 0, string(None) + struct.pack(">i", 60_000))
            _throttle, error, producer_id, epoch = response.take("ihqh")
        assert error == 0
        return producer_id, epoch

    def list_offset(self, topic: str, partition: int, timestamp_ms: int) -> tuple[int, int]:
        """The error, and the offset found."""
        requested = string(topic) + array([struct.pack(">iq", partition, timestamp_ms)])
        response = self.request(LIST_OFFSETS, 1, struct.pack(">i", -1) + array([requested]))
        response.take("i"), response.string()
        _count, _index, error, _timestamp, offset = response.take("iihqq")
        return error, offset

    def end_offset(self, topic: str, partition: int = 0) -> int:
        error, offset = self.list_offset(topic, partition, -1)
        assert error == 0
        return offset


def read_produced(response: Reader) -> Produced:
    response.take("i"), response.string()
    _count, _index, error, base_offset = response.take("iihq")
    return Produced(error, base_offset)


def read_fetched(response: Reader) -> Fetched:
    response.take("ii"), response.string()
    _count, _index, error, high_watermark, _stable, aborted = response.take("iihqqi")
    for _ in range(aborted):
        response.take("qq")
    return Fetched(error, high_watermark, response.blob(response.take("i")[0]))
