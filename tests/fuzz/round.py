"""Runs a round: the real sessions, dispatch, handlers, services and store, with a judge.

Each whole frame gets its response in order, or the connection is closed and the reason logged. A
healthy client shares the commits.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import count
from typing import Any

from crc32c import crc32c

from application.ports.clock import Clock
from application.state.catalog import Catalog
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, InProcessKafka
from tests.fakes.plain_requests import TOPIC_ID
from tests.fakes.requests import fetch, produce
from tests.fuzz.cost import Meter
from tests.fuzz.events import CONNECTIONS, Event
from tests.fuzz.judge import Judge

#: Reasons to close a connection with valid requests: acks=0 and unread responses.
FORESEEN = ("produce_failed", "slow_reader")
MAX_FRAME_BYTES = 300_000
#: Small, so that every limit is reached.
SETTINGS = {
    "socket_request_max_bytes": str(MAX_FRAME_BYTES),
    "queued_max_request_bytes": "300000",
    "connection_unsent_max_bytes": "20000",
    "fetch_max_bytes": "100000",
    "fetch_waiting_max": "3",
    "max_incremental_fetch_session_cache_slots": "5",
    "fetch_partitions_max": "40",
    "request_elements_max": "2000",
    "queued_max_response_bytes": "100000",
}
CONFIGS: dict[str, dict[str, str]] = {
    "t": {},
    "compacted": {"cleanup_policy": "compact", "compression_type": "zstd"},
    "stamped": {"message_timestamp_type": "LogAppendTime", "compression_type": "uncompressed"},
    # Limits that a jump of the clock exceeds, and a reason to read every record.
    "recent": {"message_timestamp_before_max_ms": str(10**15)},
}
MINE = "healthy"
#: Longer than any fetch waits.
FOR_EVER_MS = 2**31


class Stream:
    """One connection: the bytes in both directions."""

    def __init__(self, client: FakeClient) -> None:
        self.client = client
        self.judge = Judge(MAX_FRAME_BYTES)
        self.deaf = False
        self.sensible = True

    def send(self, event: Event) -> None:
        self.sensible &= event.sensible
        self.judge.sent(event.data)
        for start in range(0, len(event.data), event.chunk):
            self.client.transport.send(event.data[start : start + event.chunk])

    def receive(self) -> None:
        if self.deaf:
            self.deaf = False
            self.client.transport.read_on()

    @property
    def waits_for_memory(self) -> bool:
        return bool(self.client.session.connection.needs_bytes)

    def settle(self) -> None:
        """Checks for missing responses, unless the client does not read."""
        for response in self.client.frames():
            self.judge.received(response)
        if self.client.closed:
            why = self.client.why_closed()
            assert why, "closed, and the log does not say why"
            assert not self.sensible or why in FORESEEN, why
            return
        if self.deaf or self.waits_for_memory:
            return
        assert not self.judge.illegal, "what is no frame did not close the connection"
        missing = self.judge.missing()
        assert not missing, f"no response to {missing[0].frame.hex()}"


class Healthy:
    """Produces beside the hostile clients, and reads its records."""

    def __init__(self, kafka: InProcessKafka) -> None:
        self._kafka = kafka
        self._client = kafka.client("192.0.2.8")
        self.written: list[bytes] = []

    def begin(self) -> None:
        """Sends in the same pass as others, so for the same commit."""
        request = produce(f"value {len(self.written)}")
        request.topic_data[0].name = MINE
        self.written.append(bytes(request.topic_data[0].partition_data[0].records or b""))
        self._client.send(request, 9)

    def check(self) -> None:
        offset = len(self.written) - 1
        [response] = self._client.responses()
        result = response.responses[0].partition_responses[0]
        assert (result.error_code, result.base_offset) == (0, offset), "a healthy produce"
        request = fetch(max_wait_ms=0, offset=offset)
        request.topics[0].topic = MINE
        found = self._client.request(request, 12).responses[0].partitions[0]
        assert found.error_code == 0
        assert sealed(bytes(found.records)) == sealed(self.written[offset]), "a healthy fetch"


def sealed(batch: bytes) -> bytes:
    """The bytes that a broker may not change."""
    return batch[16:]


class World(InProcessKafka):
    def _clock(self) -> Clock:
        return self.clock


class Round:
    def __init__(self, storage: str = "memory://", meter: Meter | None = None) -> None:
        self.kafka = World(storage, **SETTINGS)
        self._meter = meter
        self.kafka.broker.topics.create_topics._new_topic_id = _topic_ids().__next__
        self.kafka.broker.messages.fetch_sessions._new_id = count(1).__next__
        for name, configs in CONFIGS.items():
            self.kafka.topic(name, 2, **configs)
            self.kafka.appended(record_batch([(b"k", b"v", [], self.kafka.clock.now_ms())]), name)
        self.kafka.topic(MINE)
        self.healthy = Healthy(self.kafka)
        self._streams: list[Stream | None] = [None] * CONNECTIONS

    def run(self, events: Sequence[Event]) -> None:
        for event in events:
            self.healthy.begin()
            if self._meter is None:
                self._happen(event)
                self._settle(event)
            else:
                with self._meter.measured(len(event.data)):
                    self._happen(event)
                    self._settle(event)
            self.healthy.check()
        self.end()

    def _stream(self, at: int) -> Stream:
        stream = self._streams[at]
        if stream is None or stream.client.closed:
            if stream is not None:
                stream.receive()
            stream = self._streams[at] = Stream(self.kafka.client())
        return stream

    def _happen(self, event: Event) -> None:
        stream = self._stream(event.connection)
        transport = stream.client.transport
        match event.what:
            case "bytes":
                stream.send(event)
            case "deaf" if not stream.deaf:
                stream.deaf = True
                transport.stop_reading()
            case "reads":
                stream.receive()
            case "gone":
                transport.drop()
                self._streams[event.connection] = None

    def _settle(self, event: Event) -> None:
        kafka = self.kafka
        kafka.run()
        if kafka.scheduler.timers:
            kafka.scheduler.advance(FOR_EVER_MS)
        stream = self._streams[event.connection]
        if stream is not None:
            stream.settle()
        failures = kafka.events.of("request_failed")
        assert not failures, f"{failures[0]}"

    def end(self) -> None:
        """All clients read their responses and leave; nothing stays allocated, logs are valid."""
        streams = [stream for stream in self._streams if stream is not None]
        # Clients with a partial frame leave first: others may wait for its memory.
        for stream in sorted(
            streams, key=lambda one: (one.waits_for_memory, not one.judge.mid_frame)
        ):
            stream.receive()
            self.kafka.scheduler.advance(FOR_EVER_MS)
            stream.settle()
            stream.client.transport.drop()
            self.kafka.scheduler.advance(FOR_EVER_MS)
        shared = self.kafka.shared
        assert len(shared.sessions) == 1, "sessions without connections"
        assert (shared.memory.used_bytes, len(shared.memory)) == (0, 0), "memory is held"
        assert len(self.kafka.broker.messages.fetch._purgatory) == 0, "a fetch still waits"
        self._check_logs()

    def _check_logs(self) -> None:
        catalog: Catalog = self.kafka.broker.catalog
        for topic in catalog:
            for index in range(len(topic.partition_ids)):
                partition = catalog.partition(topic, index)
                assert partition is not None
                batches = read_log(self.kafka, partition)
                if topic.name == MINE:
                    mine = [sealed(one) for one in batches]
                    assert mine == [sealed(one) for one in self.healthy.written]

    def close(self) -> None:
        self.kafka.close()


def _topic_ids() -> Any:
    """The first topic has the id that requests name."""
    yield TOPIC_ID
    for number in count(1):
        yield b"\10" * 12 + struct.pack(">i", number)


def read_log(kafka: InProcessKafka, partition: Any) -> list[bytes]:
    """Returns all its batches, and checks checksums and offsets."""
    log = kafka.broker.messages.produce._log
    data = bytes(log.read(partition.partition_id, 0, 2**62, 2**62, True))
    found: list[bytes] = []
    start = partition.log_start_offset
    # A batch with the log start offset, or one that is not trimmed yet, begins before it.
    first = struct.unpack_from(">q", data)[0] if data else start
    position, offset = 0, min(first, start)
    while position < len(data):
        base_offset, length = struct.unpack_from(">qi", data, position)
        batch = data[position : position + 12 + length]
        assert len(batch) == 12 + length, "half a batch"
        checksum, _attributes, last_delta = struct.unpack_from(">Ihi", batch, 17)
        assert base_offset == offset, "a gap between offsets"
        assert crc32c(batch[21:]) == checksum, "a wrong checksum"
        offset += last_delta + 1
        position += len(batch)
        found.append(batch)
    assert offset == partition.high_watermark == partition.end.next_offset, "the end is elsewhere"
    return found
