"""SendInTransaction: appends records in one transaction, from REST clients: all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from application.background.job import SLICE, Job
from application.background.runner import Runner
from application.partitions.produce import ProduceService
from application.partitions.reading import load_all
from application.ports.checksum import Checksum
from application.ports.clock import Clock
from application.ports.pending import Pending
from application.records.send import Delivered, OutgoingRecord, SendService, message_of
from application.state.catalog import Catalog
from application.transactions.coordinator import SupportedOperation, TransactionCoordinator
from application.transactions.produce_admission import ProduceAdmission
from application.transactions.take_over import TakeOverService
from domain.errors import BrokerError
from domain.messages.batch import TRANSACTIONAL
from domain.messages.building import build_batch
from domain.messages.message import Message
from domain.topics.topic import Topic, not_writable_error
from domain.transactions.transaction import TV_2, ProducerIdAndEpoch

#: Of the transaction, which ends with the request.
TIMEOUT_MS = 60_000


class _Batch(NamedTuple):
    partition: int
    #: The places of its records in the request.
    numbers: list[int]
    messages: list[Message]
    data: bytearray


class SendInTransaction:
    def __init__(
        self,
        catalog: Catalog,
        send: SendService,
        produce: ProduceService,
        coordinator: TransactionCoordinator,
        take_over: TakeOverService,
        background: Runner,
        clock: Clock,
        checksum: Checksum,
    ) -> None:
        self._catalog = catalog
        self._send = send
        self._produce = produce
        self._coordinator = coordinator
        self._take_over = take_over
        self._background = background
        self._clock = clock
        self._checksum = checksum

    def send(
        self, topic_name: str, groups: Sequence[Sequence[OutgoingRecord]], transactional_id: str
    ) -> Pending[list[Delivered] | BrokerError]:
        """The places of all records in order, once they are committed, or why there is none.

        A producer with this transactional id is fenced. A group is encoded in one step.
        """
        return self._background.run(self._run(topic_name, groups, transactional_id))

    def _run(
        self, topic_name: str, groups: Sequence[Sequence[OutgoingRecord]], transactional_id: str
    ) -> Job[list[Delivered] | BrokerError]:
        topic = self._catalog.topic(topic_name)
        if topic is None or topic.is_internal:
            return not_writable_error(topic_name)
        timeout_ms = min(TIMEOUT_MS, self._coordinator.max_timeout_ms)
        try:
            producer = yield from self._take_over.job(transactional_id, timeout_ms)
            if isinstance(producer, BrokerError):
                return producer
            batches = yield from self._batches(topic, groups, producer)
            places = ((topic_name, one.partition) for one in batches)
            yield from load_all(self._catalog, places)
            delivered = self._append(topic, batches, transactional_id)
            committed = not isinstance(delivered, BrokerError)
            ended = yield self._coordinator.end(transactional_id, producer, committed, TV_2)
        except BrokerError as refused:
            return refused.as_value()
        return ended if committed and isinstance(ended, BrokerError) else delivered

    def _batches(
        self,
        topic: Topic,
        groups: Sequence[Sequence[OutgoingRecord]],
        producer: ProducerIdAndEpoch,
    ) -> Job[list[_Batch]]:
        self._send.next_partition()
        now_ms = self._clock.now_ms()
        batches: list[_Batch] = []
        sequences: dict[int, int] = {}
        number = 0
        for group in groups:
            by_partition: dict[int, list[int]] = {}
            for at, record in enumerate(group):
                by_partition.setdefault(self._send.partition_of(topic, record), []).append(at)
            for index, places in by_partition.items():
                messages = [message_of(group[at], now_ms) for at in places]
                sequence = sequences.get(index, 0)
                data = build_batch(
                    messages,
                    self._checksum,
                    attributes=TRANSACTIONAL,
                    producer=producer,
                    base_sequence=sequence,
                )
                sequences[index] = sequence + len(messages)
                batches.append(_Batch(index, [number + at for at in places], messages, data))
            number += len(group)
            yield SLICE
        return batches

    def _append(
        self, topic: Topic, batches: list[_Batch], transactional_id: str
    ) -> list[Delivered] | BrokerError:
        """All are staged in one pass, or a part of them before the error."""
        admit = ProduceAdmission(
            self._coordinator, transactional_id, SupportedOperation.ADD_PARTITION
        )
        found: dict[int, Delivered] = {}
        for batch in batches:
            try:
                partition = self._catalog.existing_partition(topic.name, batch.partition)
            except BrokerError as refused:
                return refused.as_value()
            data = memoryview(batch.data)
            appended = self._produce.append(partition, data, True, admit, waits=False)
            if isinstance(appended, BrokerError):
                return appended
            by_log = appended.log_append_time
            for at, (number, message) in enumerate(zip(batch.numbers, batch.messages, strict=True)):
                timestamp = by_log if by_log >= 0 else message.timestamp
                found[number] = Delivered(batch.partition, appended.base_offset + at, timestamp)
        return [found[number] for number in range(len(found))]
