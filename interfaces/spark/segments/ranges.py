"""A range of a log in a store."""

from __future__ import annotations

from dataclasses import dataclass

from interfaces.spark.query.ranges import Range


@dataclass(frozen=True)
class StoredRange(Range):
    #: The number of the partition in the store.
    partition_id: int
    #: Where the query begins to read it.
    first: int

    @property
    def is_first(self) -> bool:
        """It begins where no other range of the query ends."""
        return self.start == self.first
