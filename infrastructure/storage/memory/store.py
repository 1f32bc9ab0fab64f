"""MemoryStore: what the memory engine's log, rows and commit share.

Nothing survives the process. Staged changes are applied at once by `keep`; changes of lists and
dicts cannot fail halfway.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from application.ports.log_store import IndexEntry
from domain.messages.batch import last_offset_of

#: Of no batch.
NO_TIMESTAMP_AFTER = 1 << 63


class MemoryPartition:
    """One log: batches side by side with their last offsets, and the timestamp index likewise."""

    __slots__ = ("batches", "indexed_offsets", "last_offsets", "timestamps")

    def __init__(self) -> None:
        self.batches: list[bytes] = []
        self.last_offsets: list[int] = []
        self.timestamps: list[int] = []
        self.indexed_offsets: list[int] = []

    def copy(self) -> MemoryPartition:
        copy = MemoryPartition()
        copy.batches = list(self.batches)
        copy.last_offsets = list(self.last_offsets)
        copy.timestamps = list(self.timestamps)
        copy.indexed_offsets = list(self.indexed_offsets)
        return copy

    def position_of(self, offset: int) -> int:
        """The place of the batch that holds `offset`, or of the first after it."""
        return bisect_left(self.last_offsets, offset)

    def index(self, timestamp: int, last_offset: int) -> None:
        position = bisect_left(self.timestamps, timestamp)
        if position < len(self.timestamps) and self.timestamps[position] == timestamp:
            self.indexed_offsets[position] = last_offset
        else:
            self.timestamps.insert(position, timestamp)
            self.indexed_offsets.insert(position, last_offset)

    def batches_within(self, first_offset: int, last_offset: int) -> list[bytes]:
        return self.batches[self.position_of(first_offset) : self.position_of(last_offset + 1)]

    def replace(self, first_offset: int, last_offset: int, batches: list[bytes]) -> None:
        first, end = self.position_of(first_offset), self.position_of(last_offset + 1)
        self.batches[first:end] = batches
        self.last_offsets[first:end] = map(last_offset_of, batches)

    def replace_index(self, first_offset: int, last_offset: int, indexed: list[IndexEntry]) -> None:
        first = bisect_left(self.indexed_offsets, first_offset)
        end = bisect_left(self.indexed_offsets, last_offset + 1)
        least = self.timestamps[first - 1] if first else 0
        after = self.timestamps[end] if end < len(self.timestamps) else NO_TIMESTAMP_AFTER
        del self.timestamps[first:end]
        del self.indexed_offsets[first:end]
        for timestamp, offset in indexed:
            if timestamp < after:
                self.index(max(timestamp, least), offset)

    def drop(self, count: int) -> None:
        del self.batches[:count]
        del self.last_offsets[:count]
        if not self.batches:
            self.timestamps.clear()
            self.indexed_offsets.clear()

    def forget_index_below(self, offset: int) -> None:
        count = bisect_left(self.indexed_offsets, offset)
        del self.timestamps[:count]
        del self.indexed_offsets[:count]


class MemoryStore:
    __slots__ = ("keys", "partitions", "staged", "staged_drops", "staged_lengths", "tables")

    def __init__(self) -> None:
        self.partitions: dict[int, MemoryPartition] = {}
        self.tables: dict[str, dict[bytes, bytes]] = {}
        #: Of each table, in order.
        self.keys: dict[str, list[bytes]] = {}
        self.staged: list[Callable[[], None]] = []
        #: Batches that each partition gains or loses with the next commit.
        self.staged_lengths: dict[int, int] = {}
        #: Batches that it loses at its start.
        self.staged_drops: dict[int, int] = {}

    def take_over(self, other: MemoryStore) -> None:
        """Copies the committed data of another store, and discards what is staged."""
        self.partitions = {each: one.copy() for each, one in other.partitions.items()}
        self.tables = {name: dict(rows) for name, rows in other.tables.items()}
        self.keys = {name: list(keys) for name, keys in other.keys.items()}
        self.forget()

    def length(self, partition_id: int) -> int:
        """Batches of a partition after the next commit."""
        partition = self.partitions.get(partition_id)
        committed = len(partition.batches) if partition else 0
        return committed + self.staged_lengths.get(partition_id, 0)

    def lengthen(self, partition_id: int, by: int) -> None:
        self.staged_lengths[partition_id] = self.staged_lengths.get(partition_id, 0) + by

    def dropped(self, partition_id: int) -> int:
        return self.staged_drops.get(partition_id, 0)

    def drop(self, partition_id: int, count: int) -> None:
        self.lengthen(partition_id, -count)
        self.staged_drops[partition_id] = self.dropped(partition_id) + count

    def keep(self) -> None:
        for change in self.staged:
            change()
        self.forget()

    def forget(self) -> None:
        self.staged.clear()
        self.staged_lengths.clear()
        self.staged_drops.clear()
