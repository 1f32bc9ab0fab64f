"""OffsetForLeaderEpoch: the end offset of an epoch, for consumers that detect log truncation."""

from __future__ import annotations

from application.state.catalog import Catalog
from domain.partitions.leader_epochs import EpochEnd


class OffsetForLeaderEpochService:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, topic_name: str, index: int, current_epoch: int, epoch: int) -> EpochEnd:
        partition = self._catalog.existing_partition(topic_name, index, current_epoch)
        self._catalog.check_lease()
        return partition.epoch_end(epoch)
