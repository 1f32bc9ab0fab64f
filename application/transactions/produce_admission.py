"""ProduceAdmission: whether the transactional batches of a request may be appended."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from application.transactions.coordinator import (
    ReadElsewhere,
    SupportedOperation,
    TransactionCoordinator,
)
from domain.errors import BrokerError, InvalidProducerIdMapping
from domain.messages.batch import TRANSACTIONAL, RecordBatch, parse_single_batch
from domain.partitions.partition import Partition
from domain.partitions.producers import check_epoch
from domain.transactions.transaction import ProducerIdAndEpoch


class ProduceAdmission:
    """Of one request, or of all that repeat it.

    The first batch adds all partitions of the request: each change writes the whole transaction.
    """

    __slots__ = (
        *("_adds", "_coordinator", "_operation", "_others", "_producer_id", "_read"),
        "_transactional_id",
    )

    def __init__(
        self,
        coordinator: TransactionCoordinator,
        transactional_id: str,
        operation: SupportedOperation,
        partitions: Sequence[Partition] = (),
        read: ReadElsewhere | None = None,
    ) -> None:
        """`partitions`: all of the request; `read` if another broker coordinates the transaction.
        Without it a batch is refused then, unless it is not the first one of its transaction.
        """
        self._coordinator = coordinator
        self._transactional_id = transactional_id
        self._operation = operation
        #: Of clients that get another epoch with each transaction (KIP-890): sequences start at 0.
        self._adds = operation is SupportedOperation.ADD_PARTITION
        self._others = []
        if self._adds and read is None:
            self._others = [(one.topic, one.index) for one in partitions]
        self._read = read
        #: Of the batches that `read_first` has looked at.
        self._producer_id: int | None = None

    def read_first(self, partition: Partition, records: memoryview | None) -> None:
        """Before the first batch of a request is appended: raises NotInMemory while this one needs
        a transaction that is not read yet.

        Raises InvalidProducerIdMapping, as Kafka, if the request has several producers.
        """
        if self._read is None:
            return
        try:
            batch = parse_single_batch(records)
            is_to_read = batch.attributes & TRANSACTIONAL and not self._is_open(partition, batch)
        except BrokerError:
            return  # it is refused when it is appended
        if not is_to_read:
            return
        if self._producer_id not in (None, batch.producer_id):
            raise InvalidProducerIdMapping(
                "Transactional records contained more than one producer ID"
            )
        self._producer_id = batch.producer_id
        with suppress(BrokerError):  # as above
            self._read(batch.producer_id)

    def _is_open(self, partition: Partition, batch: RecordBatch) -> bool:
        """The coordinator was asked for an earlier batch."""
        state = partition.producers.find(batch.producer_id)
        return (
            state is not None
            and state.epoch == batch.producer_epoch
            and batch.producer_id in partition.transactions
        )

    def __call__(self, partition: Partition, batch: RecordBatch) -> None:
        """Raises unless the batch belongs to the producer's open transaction."""
        producer_id, epoch = batch.producer_id, batch.producer_epoch
        producers = partition.producers
        state = producers.find(producer_id)
        if state is None:
            producers.await_first(batch, 0 if self._adds else batch.base_sequence)
        elif state.epoch == epoch and producer_id in partition.transactions:
            return  # the coordinator was asked for an earlier batch
        else:
            check_epoch(state, batch)
        others, self._others = self._others, []
        self._coordinator.admit_produce(
            self._transactional_id,
            ProducerIdAndEpoch(producer_id, epoch),
            [(partition.topic, partition.index), *others],
            self._operation,
            self._read,
        )
