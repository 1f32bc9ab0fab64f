"""TransactionIndex: the aborted transactions of each partition, for READ_COMMITTED consumers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from domain.partitions.transactions import AbortedTransaction


class TransactionIndex(Protocol):
    """`add`, `remove` and `drop` stage changes; the others see committed entries only."""

    def add(self, partition_id: int, aborted: AbortedTransaction) -> None: ...

    def since(self, partition_id: int, offset: int) -> Iterator[AbortedTransaction]:
        """The transactions with a marker from an offset on, by their markers."""
        ...

    def overlapping(
        self, partition_id: int, offset: int, end_offset: int
    ) -> list[AbortedTransaction]:
        """The transactions with records or markers between the two offsets, by their markers."""
        ...

    def remove(self, partition_id: int, last_offset: int) -> None:
        """The entry of the marker at this offset."""
        ...

    def below(self, partition_id: int, offset: int, max_entries: int) -> list[int]:
        """The offsets of up to `max_entries` markers below an offset, oldest first."""
        ...

    def drop(self, partition_id: int, max_entries: int) -> bool:
        """Up to `max_entries` entries of a deleted partition; True if nothing is left."""
        ...
