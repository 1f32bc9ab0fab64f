from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Protocol

from domain.partitions.partition import Partition
from domain.partitions.producers import ProducerState


class PartitionRepository(Protocol):
    def recover(self, partition: Partition, waits: bool = True) -> None:
        """Restores the state of the partition from its snapshot and all later headers.

        Without `waits` it may raise NotInMemory; the partition must not be used then.
        """
        ...

    def snapshot(self, partition: Partition) -> None:
        """Stages a snapshot, from which `recover` starts instead of the whole log."""
        ...

    def producers(self, partition_id: int) -> Iterator[ProducerState]:
        """The state of each, as of the newest snapshot with an append of its own."""
        ...

    def save_trimming(self, partition_id: int, unfinished: bool) -> None:
        """Stages whether batches below the log start must still be removed."""
        ...

    def trimming(self) -> list[int]:
        """Partitions with unfinished trimming, as committed."""
        ...

    def forget(self, partition_id: int, max_rows: int) -> bool:
        """Stages the removal of a deleted partition's snapshot, and of up to `max_rows` producers.

        True if nothing is left after the commit.
        """
        ...

    def forget_silent(
        self,
        before_timestamp: int,
        position: bytes,
        max_rows: int,
        transactions: Callable[[int], Container[int] | None],
        is_led: Callable[[int], bool],
    ) -> bytes | None:
        """Stages the removal of producers that sent nothing since, of all partitions that this
        node leads.

        Reads up to `max_rows` rows from a position on, b"" at first, and returns the next position,
        or None at the end. Call it only while no snapshot is staged or in flight.

        Producers with an open transaction stay: `transactions` returns those of a partition by its
        id, or None if it is not loaded; then the newest snapshot decides.
        """
        ...
