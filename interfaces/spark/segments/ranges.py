"""A range of a partition in a store."""

from __future__ import annotations

from dataclasses import dataclass

from interfaces.spark.query.ranges import Range


@dataclass(frozen=True)
class StoredRange(Range):
    #: The partition's id in the store.
    partition_id: int
    #: The first offset that the query reads of the partition.
    first: int

    @property
    def is_first(self) -> bool:
        """Whether the range is the partition's first one in this query."""
        return self.start == self.first
