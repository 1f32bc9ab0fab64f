"""After a restart: reads everything through the protocol and compares it with the ledger."""

from __future__ import annotations

import random
import struct
from collections import defaultdict
from collections.abc import Iterable

from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.crash.ledger import Batch, Broken, Found, Stream
from tests.crash.offsets import Ledgers
from tests.crash.topics import Topic, Topics
from tests.e2e.raw_client import (
    LIST_OFFSETS,
    METADATA,
    RawClient,
    array,
    split_batches,
    string,
)

#: The broker remembers so many batches of a producer.
REMEMBERED = 5
LATEST, EARLIEST = -1, -2
OUT_OF_RANGE = 1


#: Offset and bytes of each.
Batches = list[tuple[int, bytes]]


class Expired(Broken):
    """Retention has removed what is read."""


class Check:
    def __init__(self, port: int, chance: random.Random) -> None:
        self.client = RawClient("127.0.0.1", port, patience_s=10)
        self.chance = chance

    def all(self, topics: Topics, streams: Iterable[Stream], offsets: Ledgers) -> int:
        """Returns the number of batches."""
        with self.client:
            topics.check(self._described_topics())
            offsets.check(self.client, topics)
            batches = 0
            for topic in list(topics.by_name.values()):
                for index in range(topic.partitions):
                    batches += self._partition(topic, index)
            for stream in streams:
                stream.check()
        return batches

    def _described_topics(self) -> dict[str, tuple[bytes, int]]:
        body = b"\0" + b"".join(MetadataRequest(topics=None).encode(12))
        response = self.client.request(METADATA, 12, body)
        found = {}
        for topic in MetadataResponse.decode(12, response.data, 5)[0].topics:
            indexes = sorted(one.partition_index for one in topic.partitions)
            if topic.error_code or indexes != list(range(len(indexes))):
                raise Broken(f"{topic.name}: error {topic.error_code}, partitions {indexes}")
            found[topic.name or ""] = (topic.topic_id, len(indexes))
        return found

    def _partition(self, topic: Topic, index: int) -> int:
        ledger = topic.ledger(index)
        start, raw, high_watermark = self._settled(topic, index)
        found = ledger.check(raw, high_watermark, start)
        self._retries(topic, index, found)
        self._offsets(topic, index, found, start, high_watermark)
        return len(found)

    def _settled(self, topic: Topic, index: int) -> tuple[int, Batches, int]:
        """Reads the log when nothing is left for retention to remove."""
        limit = topic.retention_bytes
        while True:
            _, start = self.client.list_offset(topic.name, index, EARLIEST)
            try:
                batches, end = self._read(topic.name, index, start)
            except Expired:
                if limit < 0:
                    raise
            else:
                if limit < 0 or not batches or sum(len(raw) for _, raw in batches[1:]) < limit:
                    return start, batches, end

    def _read(self, name: str, index: int, start: int) -> tuple[Batches, int]:
        batches: Batches = []
        if start and self.client.fetch(name, start - 1, index).error != OUT_OF_RANGE:
            raise Broken(f"{name}-{index}: what lies before {start} is deleted, and can be read")
        position, end = start, start + 1
        while position < end:
            fetched = self.client.fetch(name, position, index)
            end = fetched.high_watermark
            if fetched.error == OUT_OF_RANGE:
                raise Expired(f"{name}-{index}: {position} is not within the log")
            if fetched.error or (position < end and not fetched.records):
                raise Broken(f"{name}-{index}: nothing at {position} of {end}, {fetched.error=}")
            batches += split_batches(fetched.records)
            if batches:
                last, raw = batches[-1]
                position = last + Batch(raw).count
        return batches, end

    def _retries(self, topic: Topic, index: int, found: list[Found]) -> None:
        """Sends the last batches of each producer again; the responses must have their offsets."""
        by_producer: dict[int, list[Found]] = defaultdict(list)
        for one in found:
            if one.batch.producer_id >= 0:
                by_producer[one.batch.producer_id].append(one)
        for batches in by_producer.values():
            base_offset, batch = self.chance.choice(batches[-REMEMBERED:])
            result = self.client.produce(topic.name, batch.bytes, index)
            if result != (0, base_offset):
                raise Broken(f"{topic.name}-{index}: a retry of {base_offset} gets {result}")

    def _offsets(self, topic: Topic, index: int, found: list[Found], start: int, end: int) -> None:
        self._offset(topic, index, EARLIEST, start)
        self._offset(topic, index, LATEST, end)
        if not found:
            return
        for one in self.chance.sample(found, min(2, len(found))):
            timestamp = one.batch.timestamp
            first = next(f.base_offset for f in found if f.batch.timestamp >= timestamp)
            self._offset(topic, index, timestamp, max(first, start))
        self._offset(topic, index, max(f.batch.timestamp for f in found) + 1, -1)

    def _offset(self, topic: Topic, index: int, timestamp: int, expected: int) -> None:
        body = string(topic.name) + array([struct.pack(">iq", index, timestamp)])
        response = self.client.request(LIST_OFFSETS, 1, struct.pack(">i", -1) + array([body]))
        response.take("i"), response.string()
        _count, _index, error, _time, offset = response.take("iihqq")
        if error or offset != expected:
            raise Broken(
                f"{topic.name}-{index}: time {timestamp} is at {offset} (error {error}), "
                f"not at {expected}"
            )
