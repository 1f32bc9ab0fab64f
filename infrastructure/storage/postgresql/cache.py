"""LogCache: batches that were committed or read lately, in memory, up to a number of bytes.

Each entry knows from which offset on nothing lies before it in the log. So entries are added and
removed one by one, in any order, and a read goes on as long as each begins where the last ended.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

#: What an entry takes besides its batches.
ENTRY_BYTES = 300


class CachedEntry(NamedTuple):
    #: No batch of the log lies between it and the batches of the entry.
    start: int
    last_offset: int
    data: bytes
    #: Of the timestamp index.
    times: bytes = b""

    @property
    def size_bytes(self) -> int:
        return ENTRY_BYTES + len(self.data) + len(self.times)


class LogCache:
    __slots__ = ("_entries", "_most_bytes", "_offsets", "_removed", "size_bytes")

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        #: By partition id and last offset, the oldest first.
        self._entries: dict[tuple[int, int], CachedEntry] = {}
        #: The last offsets of each partition, in order, with some that were removed: how many.
        self._offsets: dict[int, list[int]] = {}
        self._removed: dict[int, int] = {}
        self.size_bytes = 0

    def add(self, partition_id: int, entry: CachedEntry) -> None:
        key = partition_id, entry.last_offset
        before = self._entries.pop(key, None)
        if before is None:
            self._add_offset(partition_id, entry.last_offset)
        else:
            self.size_bytes -= before.size_bytes
        self._entries[key] = entry
        self.size_bytes += entry.size_bytes
        while self.size_bytes > self._most_bytes and len(self._entries) > 1:
            self._remove(*next(iter(self._entries)))

    def _add_offset(self, partition_id: int, last_offset: int) -> None:
        offsets = self._offsets.setdefault(partition_id, [])
        at = bisect_left(offsets, last_offset)
        if at < len(offsets) and offsets[at] == last_offset:  # removed before
            self._removed[partition_id] -= 1
        else:
            offsets.insert(at, last_offset)

    def from_offset(self, partition_id: int, offset: int) -> Iterator[CachedEntry]:
        """The entry with the offset, or the first after it, and those behind it without a gap."""
        offsets = self._offsets.get(partition_id, [])
        for at in range(bisect_left(offsets, offset), len(offsets)):
            entry = self._entries.get((partition_id, offsets[at]))
            if entry is None or entry.start > offset:
                return
            yield entry
            offset = entry.last_offset + 1

    def remove(self, partition_id: int, first_offset: int, last_offset: int) -> None:
        """All entries that may have a batch with one of these offsets."""
        offsets = self._offsets.get(partition_id, [])
        removed = []
        for at in range(bisect_left(offsets, first_offset), len(offsets)):
            entry = self._entries.get((partition_id, offsets[at]))
            if entry is not None:
                if entry.start > last_offset:
                    break
                removed.append(entry.last_offset)
        for last in removed:
            self._remove(partition_id, last)

    def clear(self) -> None:
        self._entries.clear()
        self._offsets.clear()
        self._removed.clear()
        self.size_bytes = 0

    def _remove(self, partition_id: int, last_offset: int) -> None:
        self.size_bytes -= self._entries.pop((partition_id, last_offset)).size_bytes
        removed = self._removed.get(partition_id, 0) + 1
        offsets = self._offsets[partition_id]
        if removed * 2 < len(offsets):
            self._removed[partition_id] = removed
            return
        # Not one by one: each would move all that follow.
        left = [one for one in offsets if (partition_id, one) in self._entries]
        self._removed.pop(partition_id, None)
        if left:
            self._offsets[partition_id] = left
        else:
            del self._offsets[partition_id]
