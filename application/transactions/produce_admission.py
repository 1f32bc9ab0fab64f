"""ProduceAdmission: whether the transactional batches of a request may be appended."""

from __future__ import annotations

from collections.abc import Sequence

from application.transactions.coordinator import SupportedOperation, TransactionCoordinator
from domain.messages.batch import RecordBatch
from domain.partitions.partition import Partition
from domain.partitions.producers import check_epoch
from domain.transactions.transaction import ProducerIdAndEpoch


class ProduceAdmission:
    """Of one request, or of all that repeat it.

    The first batch adds all partitions of the request: each change writes the whole transaction.
    """

    __slots__ = ("_adds", "_coordinator", "_operation", "_others", "_transactional_id")

    def __init__(
        self,
        coordinator: TransactionCoordinator,
        transactional_id: str,
        operation: SupportedOperation,
        partitions: Sequence[Partition] = (),
    ) -> None:
        self._coordinator = coordinator
        self._transactional_id = transactional_id
        self._operation = operation
        #: Of clients that get another epoch with each transaction (KIP-890): sequences start at 0.
        self._adds = operation is SupportedOperation.ADD_PARTITION
        self._others = [(one.topic, one.index) for one in partitions] if self._adds else []

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
        )
