from __future__ import annotations

from typing import Protocol

from domain.partitions.partition import Partition


class PartitionRepository(Protocol):
    def recover(self, partition: Partition, waits: bool = True) -> None:
        """Makes the partition what the committed log says: a snapshot, then every later header.

        Without `waits` it may raise NotInMemory; the partition means nothing then.
        """
        ...

    def snapshot(self, partition: Partition) -> None:
        """Stages a row from which `recover` starts, so that it need not read the whole log."""
        ...

    def save_trimming(self, partition_id: int, unfinished: bool) -> None:
        """Stages that batches below the log start are still to be removed, or no longer."""
        ...

    def trimming(self) -> list[int]:
        """Committed: partitions of which that is so."""
        ...

    def forget(self, partition_id: int, max_rows: int) -> bool:
        """Stages the removal of a deleted partition's snapshot, and of up to so many producers.

        True when nothing of them is left once that is committed.
        """
        ...

    def forget_silent(self, before_timestamp: int, place: bytes, max_rows: int) -> bytes | None:
        """Stages the removal of producers, of any partition, that have been silent since.

        Looks at up to so many snapshots from a place on, b"" at first, and returns the next place,
        or None at the end. To be called when no snapshot is staged or on its way to the disk.
        """
        ...
