"""OffsetForLeaderEpoch: where an epoch ended, for a consumer that looks whether its log was cut."""

from __future__ import annotations

from typing import NamedTuple

from application.fetch import check_leader_epoch
from application.topics.catalog import Catalog
from domain.partitions.partition import LEADER_EPOCH

NO_EPOCH = -1


class EpochEnd(NamedTuple):
    leader_epoch: int
    end_offset: int


#: Nothing is known of such an epoch.
UNKNOWN = EpochEnd(-1, -1)


class OffsetForLeaderEpochService:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, topic_name: str, index: int, current_epoch: int, wanted_epoch: int) -> EpochEnd:
        """The whole log is of the one epoch there is, so that ends where the log does."""
        partition = self._catalog.existing_partition(topic_name, index)
        if current_epoch != NO_EPOCH:
            check_leader_epoch(current_epoch)
        if wanted_epoch == NO_EPOCH or wanted_epoch > LEADER_EPOCH:
            return UNKNOWN
        if wanted_epoch < LEADER_EPOCH:
            # What came before the first epoch ended where that began.
            return EpochEnd(wanted_epoch, partition.log_start_offset)
        # Kafka says its log's end. Here that may still be taken back, by a commit that fails.
        return EpochEnd(LEADER_EPOCH, partition.high_watermark)
