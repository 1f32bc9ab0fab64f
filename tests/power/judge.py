"""Opens what a power cut left with the product's code and compares it with the ledger.

    intact    all that was acknowledged is there, each byte of it
    tail      all that was synced is there; of the rest, the newest is missing
    lost      something that was synced is missing, or an error says that it cannot be read
    refused   the store does not open, and one line says why
    wrong     a batch that was not sent, twice, or at another place; or a gap; or what
              is written next harms it

Damaged files may kill the judge, so it runs in a process of its own.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

from crc32c import crc32c

from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageUnusable
from interfaces.kafka.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from interfaces.kafka.wire.messages.init_producer_id import InitProducerIdRequest
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.fakes.batches import record_batch
from tests.fakes.client import InProcessKafka
from tests.power.ledger import Ledger, Place, digest

MAX_BYTES = 1 << 30

#: Outcomes that each flush policy allows. Never: lost promised data, a crash, or silent damage.
ALLOWED = {
    "commit": {"intact"},
    "interval": {"intact", "tail"},
    "os": {"intact", "tail", "refused"},
}


@dataclass
class Verdict:
    outcome: str
    why: str = ""


@dataclass
class Stored:
    """A batch that was read."""

    base_offset: int
    records: int
    digest: str
    raw: bytes

    @property
    def producer(self) -> tuple[int, int, int]:
        found: tuple[int, int, int] = struct.unpack_from(">qhi", self.raw, 43)
        return found


class Wrong(Exception):
    """Silent damage."""


class Lost(Exception):
    """Missing data, or an error that reports it."""


@dataclass
class Judge:
    #: All that was acknowledged and sent before the power cut.
    now: Ledger
    #: All that was acknowledged before the newest sync began: what the policy promises.
    promised: Ledger
    engine: str
    logs: dict[Place, list[Stored]] = field(default_factory=dict)
    #: Log start offsets.
    starts: dict[Place, int] = field(default_factory=dict)

    def judge(self, folder: Path, flush: str) -> Verdict:
        try:
            kafka = InProcessKafka(f"{self.engine}://{folder}", flush=flush)
        except (StorageUnusable, StorageFailed, OSError) as failure:
            # The one-line errors of `ottla serve`.
            return Verdict("refused", str(failure).replace(str(folder), "FOLDER"))
        try:
            kafka.broker.start_upkeep()
            kafka.run()
            self.names = self._topics(kafka)
            self.starts = {place: self._start(kafka, place) for place in self._places(kafka)}
            self.logs = {place: self._read(kafka, place) for place in self.starts}
            self._compare()
            self._check_starts()
            missing = self._missing()
            self._go_on(kafka)
            kafka.close()
        except Wrong as wrong:
            return Verdict("wrong", str(wrong))
        except (Lost, StorageFailed) as lost:
            return Verdict("lost", str(lost))
        return Verdict("tail", missing) if missing else Verdict("intact")

    # ---- topics

    def _topics(self, kafka: InProcessKafka) -> dict[str, str]:
        names = {}
        for topic in kafka.broker.catalog:
            topic_id = topic.topic_id.hex()
            if topic_id in self.promised.deleted:
                raise Lost(f"topic {topic.name} was deleted and is there")
            known = self.now.topics.get(topic_id)
            if known is not None and known != (topic.name, len(topic.partition_ids)):
                raise Wrong(f"topic {topic.name} was {known}")
            names[topic_id] = topic.name
        for topic_id, (name, _) in self.promised.topics.items():
            if topic_id not in names and topic_id not in self.now.deleting:
                raise Lost(f"topic {name} is not there")
        return names

    def _places(self, kafka: InProcessKafka) -> list[Place]:
        return [
            (topic.topic_id.hex(), index)
            for topic in kafka.broker.catalog
            for index in range(len(topic.partition_ids))
        ]

    # ---- batches

    def _start(self, kafka: InProcessKafka, place: Place) -> int:
        topic_id, index = place
        return kafka.partition(self.names[topic_id], index).log_start_offset

    def _end(self, place: Place) -> int:
        log = self.logs[place]
        return log[-1].base_offset + log[-1].records if log else self.starts[place]

    def _check_starts(self) -> None:
        """Retention removes no more than the config allows."""
        for place, start in self.starts.items():
            retained = self.now.retention_bytes.get(place[0], -1)
            size_bytes = sum(len(stored.raw) for stored in self.logs[place])
            acked = self.now.acked.get(place, {})
            if acked and self._end(place) <= max(acked.values()):
                continue  # what retention has counted is lost
            gone = self.now.removing.get(place, set())
            if all(content in gone for content, offset in acked.items() if offset < start):
                continue  # compaction has removed the first ones
            if start and not 0 <= retained <= size_bytes:
                raise Wrong(f"{size_bytes} bytes are left of {retained}, from offset {start}")

    def _read(self, kafka: InProcessKafka, place: Place) -> list[Stored]:
        topic_id, index = place
        client = kafka.client()
        found: list[Stored] = []
        next_offset = self.starts[place]
        while True:
            partition = FetchPartition(
                partition=index, fetch_offset=next_offset, partition_max_bytes=MAX_BYTES
            )
            topic = FetchTopic(topic=self.names[topic_id], partitions=[partition])
            response = client.request(FetchRequest(topics=[topic], max_bytes=MAX_BYTES), 11)
            (partition,) = response.responses[0].partitions
            if partition.error_code:
                raise Lost(f"reading says {partition.error_code}")
            read = split(bytes(partition.records or b""))
            for stored in read:
                self._check_gap(place, next_offset, stored.base_offset)
                next_offset = stored.base_offset + stored.records
            found += read
            if next_offset == partition.high_watermark:
                return found
            if not read:
                raise Wrong(f"no batch at {next_offset} of {partition.high_watermark}")

    def _check_gap(self, place: Place, offset: int, next_offset: int) -> None:
        """Only batches that compaction has removed may be missing between others."""
        gone = self.now.removing.get(place, set())
        ends = {
            base_offset: base_offset + self.now.sent[content].records
            for content, base_offset in self.now.acked.get(place, {}).items()
            if content in gone
        }
        at = offset
        while at < next_offset and at in ends:
            at = ends[at]
        if at != next_offset:
            raise Wrong(f"offset {offset - 1} is followed by {next_offset}")

    def _compare(self) -> None:
        for place, log in self.logs.items():
            acked = self.now.acked.get(place, {})
            removed = self.promised.removed.get(place, set())
            for stored in log:
                if stored.digest in removed:
                    raise Lost(f"offset {stored.base_offset} was compacted away, and is there")
                sent = self.now.sent.get(stored.digest)
                if sent is None or (sent.place, sent.records) != (place, stored.records):
                    good = crc32c(stored.raw[21:]) == int.from_bytes(stored.raw[17:21], "big")
                    raise Wrong(
                        f"a batch that {'was not sent' if sent is None else 'belongs elsewhere'}, "
                        f"with a {'good' if good else 'bad'} checksum"
                    )
                if acked.get(stored.digest, stored.base_offset) != stored.base_offset:
                    raise Wrong("a batch is not where it was acknowledged")

    def _missing(self) -> str:
        """Describes missing acknowledged data; raises if it was promised."""
        missing = 0
        for place, acked in self.now.acked.items():
            if place[0] in self.now.deleting:
                continue
            there = {stored.digest for stored in self.logs.get(place, [])}
            there |= self.now.removing.get(place, set())
            start = self.starts.get(place, 0)
            gone = [one for one, offset in acked.items() if offset >= start and one not in there]
            promised = self.promised.acked.get(place, {})
            if lost := [content for content in gone if content in promised]:
                raise Lost(f"{len(lost)} of {len(promised)} batches are not there")
            missing += len(gone)
        for topic_id in self.now.topics:
            if topic_id not in self.names and topic_id not in self.now.deleting:
                missing += 1
        missing += sum(topic_id in self.names for topic_id in self.now.deleted)
        return f"{missing} changes are not there" if missing else ""

    # ---- afterwards

    def _go_on(self, kafka: InProcessKafka) -> None:
        """Producer state is recovered, the next batch is accepted, and existing data stays."""
        found = kafka.client().request(InitProducerIdRequest(transactional_id=None), 4)
        if found.error_code or found.producer_id <= self.promised.last_producer_id:
            raise Wrong(f"a new producer gets {found}")
        for round_ in range(3):
            for place, log in self.logs.items():
                if round_ == 0:
                    self._retry_last(kafka, place, log)
                batch = record_batch([b"next" * 100, bytes(5000 * round_)])
                self._append(kafka, place, batch)
        for place, log in self.logs.items():
            again = self._read(kafka, place)
            if [one.digest for one in again] != [one.digest for one in log]:
                raise Wrong("what is written next harms what was there")

    def _retry_last(self, kafka: InProcessKafka, place: Place, log: list[Stored]) -> None:
        last = {stored.producer[0]: stored for stored in log if stored.producer[0] >= 0}
        for stored in last.values():
            offset = self._send(kafka, place, bytes(8) + stored.raw[8:])
            if offset != stored.base_offset:
                raise Wrong(f"what is at {stored.base_offset} is taken again, at {offset}")
            producer_id, epoch, sequence = stored.producer
            batch = record_batch(
                ["next"], producer_id=producer_id, epoch=epoch, sequence=sequence + stored.records
            )
            self._append(kafka, place, batch)

    def _append(self, kafka: InProcessKafka, place: Place, batch: bytearray) -> None:
        """Produces, and adds it to the comparison."""
        offset = self._send(kafka, place, batch)
        log, end = self.logs[place], self._end(place)
        if offset != end:
            raise Wrong(f"the next batch gets {offset}, not {end}")
        (stored,) = split(bytes(batch))
        stored.base_offset = offset
        log.append(stored)

    def _send(self, kafka: InProcessKafka, place: Place, batch: bytes | bytearray) -> int:
        topic_id, index = place
        data = PartitionProduceData(index=index, records=memoryview(bytearray(batch)))
        topic = TopicProduceData(name=self.names[topic_id], partition_data=[data])
        response = kafka.client().request(ProduceRequest(acks=-1, topic_data=[topic]), 9)
        (partition,) = response.responses[0].partition_responses
        if partition.error_code:
            raise Lost(f"producing says {partition.error_code}: {partition.error_message}")
        offset: int = partition.base_offset
        return offset


def split(records: bytes) -> list[Stored]:
    found, position = [], 0
    while position < len(records):
        if position + 61 > len(records):
            raise Wrong("a batch that ends within its header")
        base_offset, length = struct.unpack_from(">qi", records, position)
        raw = records[position : position + 12 + length]
        if length < 49 or len(raw) != 12 + length:
            raise Wrong("a batch whose length is not its length")
        (count,) = struct.unpack_from(">i", raw, 57)
        found.append(Stored(base_offset, count, digest(raw), raw))
        position += len(raw)
    return found
