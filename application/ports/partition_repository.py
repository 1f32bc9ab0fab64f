from __future__ import annotations

from typing import Protocol

from domain.partitions.partition import Partition


class PartitionRepository(Protocol):
    def recover(self, partition: Partition) -> None:
        """Makes the partition what the committed log says: a snapshot, then every later header."""
        ...

    def snapshot(self, partition: Partition) -> None:
        """Stages a row from which `recover` starts, so that it need not read the whole log."""
        ...

    def forget(self, partition_id: int) -> None:
        """Stages the removal of the snapshot of a deleted partition."""
        ...
