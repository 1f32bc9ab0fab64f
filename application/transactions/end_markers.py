"""EndMarkers: ends transactions in single partitions, as their coordinator has decided."""

from __future__ import annotations

from application.partitions.markers import TransactionMarkers
from application.state.storage_health import StorageHealth
from domain.errors import InvalidProducerEpoch, StorageFailed
from domain.messages.control import EndMarker
from domain.partitions.partition import Partition
from domain.partitions.producers import NO_COORDINATOR_EPOCH
from domain.transactions.transaction import TV_0, ProducerIdAndEpoch

#: The store refuses the commits of a broker that coordinates no longer.
COORDINATOR_EPOCH = 0


class EndMarkers:
    def __init__(self, markers: TransactionMarkers, storage_health: StorageHealth) -> None:
        self._markers = markers
        self._storage_health = storage_health

    def end(self, partition: Partition, producer: ProducerIdAndEpoch, committed: bool) -> None:
        """Stages the marker. Raises, without any effect, if that cannot be done now."""
        self.check(partition)
        epoch = self.coordinator_epoch(partition, producer.producer_id)
        self.write(partition, EndMarker(*producer, epoch, committed))

    def check(self, partition: Partition) -> None:
        """Raises NotEnoughReplicas."""
        self._markers.check(partition)

    def coordinator_epoch(self, partition: Partition, producer_id: int) -> int:
        """Not below that of an admin's marker, which would leave the transaction open there."""
        try:
            state = partition.producers.find(producer_id)
        except StorageFailed as failure:
            self._storage_health.unreadable(partition.topic, partition.index, failure)
            raise
        epoch = NO_COORDINATOR_EPOCH if state is None else state.coordinator_epoch
        return max(epoch, COORDINATOR_EPOCH)

    def write(self, partition: Partition, marker: EndMarker) -> None:
        try:
            self._markers.write(partition, marker, TV_0)
        except InvalidProducerEpoch:
            pass  # an admin has ended it there
