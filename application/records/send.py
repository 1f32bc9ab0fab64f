"""Send: appends single records, from REST clients.

One batch per partition. If a batch is refused, its records are tried one by one, so that only the
wrong ones fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from application.background.job import END_OF_COMMIT, SLICE, Job, Outcome
from application.background.runner import Runner
from application.partitions.produce import ProduceService
from application.partitions.reading import load_all
from application.ports.checksum import Checksum
from application.ports.clock import Clock
from application.ports.pending import Pending
from application.state.catalog import Catalog
from domain.errors import BrokerError, UnknownTopicOrPartition
from domain.messages.building import build_batch
from domain.messages.message import Headers, Message
from domain.partitions.partition import Partition
from domain.topics.partitioner import partition_for_key
from domain.topics.topic import Topic, not_writable_error


class OutgoingRecord(NamedTuple):
    """The partition defaults to that of the key, the timestamp to now."""

    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    partition: int | None = None
    timestamp: int | None = None


class Delivered(NamedTuple):
    partition: int
    offset: int
    timestamp: int


Delivery = Delivered | BrokerError


class Prepared(NamedTuple):
    topic_name: str
    records: Sequence[OutgoingRecord]
    #: Numbers of records.
    by_partition: dict[int, list[int]]
    refused: dict[int, BrokerError]


class SendService:
    def __init__(
        self,
        catalog: Catalog,
        produce: ProduceService,
        background: Runner,
        clock: Clock,
        checksum: Checksum,
    ) -> None:
        self._catalog = catalog
        self._produce = produce
        self._background = background
        self._clock = clock
        self._checksum = checksum
        self._keyless = 0

    def prepare(
        self, topic_name: str, groups: Sequence[Sequence[OutgoingRecord]]
    ) -> Pending[list[Prepared]]:
        """Each group is to be sent by itself, in order. Their partitions are loaded before that.

        The caller limits the records of a group: they are partitioned, and encoded, in one step.
        """
        return self._background.run(self._prepare(topic_name, groups))

    def _prepare(
        self, topic_name: str, groups: Sequence[Sequence[OutgoingRecord]]
    ) -> Job[list[Prepared]]:
        prepared = []
        for records in groups:
            prepared.append(self._prepared(topic_name, records))
            yield SLICE
        indexes = {index for one in prepared for index in one.by_partition}
        yield from load_all(self._catalog, ((topic_name, index) for index in sorted(indexes)))
        return prepared

    def _prepared(self, topic_name: str, records: Sequence[OutgoingRecord]) -> Prepared:
        found = Prepared(topic_name, records, {}, {})
        topic = self._catalog.topic(topic_name)
        if topic is None or topic.is_internal:
            refused: BrokerError = not_writable_error(topic_name)
            found.refused.update(dict.fromkeys(range(len(records)), refused))
            return found
        self.next_partition()
        for number, record in enumerate(records):
            try:
                index = self.partition_of(topic, record)
            except BrokerError as unknown:
                found.refused[number] = unknown.as_value()
            else:
                found.by_partition.setdefault(index, []).append(number)
        return found

    def send(self, prepared: Prepared) -> Pending[list[Delivery]]:
        """One result per record, in order, once all accepted ones are durable."""
        return self._background.run(self._send(prepared))

    def _send(self, prepared: Prepared) -> Job[list[Delivery]]:
        now_ms = self._clock.now_ms()
        deliveries: dict[int, Delivery] = dict(prepared.refused)
        for index, numbers in prepared.by_partition.items():
            deliveries.update(self._append(prepared, index, numbers, now_ms))
        in_order = [deliveries[number] for number in range(len(prepared.records))]
        if not any(isinstance(each, Delivered) for each in in_order):
            return in_order
        failure: Outcome = yield END_OF_COMMIT
        return [(failure or each) if isinstance(each, Delivered) else each for each in in_order]

    def next_partition(self) -> None:
        """Records without a key share a partition, as with the Java client."""
        self._keyless += 1

    def partition_of(self, topic: Topic, record: OutgoingRecord) -> int:
        count = len(topic.partition_ids)
        if record.partition is not None:
            if not 0 <= record.partition < count:
                raise UnknownTopicOrPartition(f"{topic.name} has no partition {record.partition}")
            return record.partition
        if record.key is None:
            return self._keyless % count
        return partition_for_key(record.key, count)

    def _append(
        self,
        prepared: Prepared,
        index: int,
        numbers: list[int],
        now_ms: int,
    ) -> dict[int, Delivery]:
        try:
            partition = self._catalog.existing_partition(prepared.topic_name, index)
        except BrokerError as refused:
            return dict.fromkeys(numbers, refused.as_value())
        messages = [message_of(prepared.records[number], now_ms) for number in numbers]
        together = self._append_batch(partition, messages)
        if not isinstance(together[0], BrokerError) or len(numbers) == 1:
            return dict(zip(numbers, together, strict=True))
        return {
            number: self._append_batch(partition, [message])[0]
            for number, message in zip(numbers, messages, strict=True)
        }

    def _append_batch(self, partition: Partition, messages: list[Message]) -> list[Delivery]:
        batch = memoryview(build_batch(messages, self._checksum))
        appended = self._produce.append(partition, batch, True, waits=False)
        if isinstance(appended, BrokerError):
            return [appended] * len(messages)
        by_log = appended.log_append_time
        return [
            Delivered(partition.index, offset, by_log if by_log >= 0 else message.timestamp)
            for offset, message in enumerate(messages, appended.base_offset)
        ]


def message_of(record: OutgoingRecord, now_ms: int) -> Message:
    timestamp = now_ms if record.timestamp is None else record.timestamp
    return Message(0, timestamp, record.key, record.value, record.headers)
