"""OffsetMap: the newest offset of each key in the part of the log that is compacted next."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import repeat
from operator import ge

from domain.compaction.records import Records

#: Memory of an entry while the table grows (measured): key 64, offset 32, table up to 90 bytes. The
#: offsets in order, 8 bytes, follow when it is full grown.
ENTRY_BYTES = 192

#: Above all offsets: of records without a key none is the newest.
_NO_KEY = 1 << 63


class OffsetMap:
    def __init__(self, max_bytes: int) -> None:
        self._offsets: dict[bytes | int | None, int] = {None: _NO_KEY}
        #: The offsets in order, after `complete`.
        self._ascending: list[int] = []
        self._max_entries = max_bytes // ENTRY_BYTES

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @property
    def utilization(self) -> float:
        """1.0 is full."""
        return len(self) / max(self._max_entries, 1)

    def has_room(self, count: int) -> bool:
        """For the records of a batch; one batch fits in any map."""
        return not len(self) or len(self) + count <= self._max_entries

    def add(self, records: Records) -> None:
        self._offsets.update(zip(records.keys, records.offsets, strict=True))
        self._offsets[None] = _NO_KEY

    def add_unreadable(self, last_offset: int) -> None:
        """A batch that cannot be opened."""
        self._offsets[last_offset] = last_offset

    def is_unreadable(self, last_offset: int) -> bool:
        return last_offset in self._offsets

    def complete(self) -> None:
        self._ascending = sorted(self._offsets.values())

    def newest_between(self, first_offset: int, last_offset: int) -> list[int]:
        """The offsets of the section that was added that are the newest of their keys."""
        ascending = self._ascending
        return ascending[
            bisect_left(ascending, first_offset) : bisect_right(ascending, last_offset)
        ]

    def newest(self, records: Records) -> list[bool]:
        """Whether each record is the newest of its key; False for records without a key."""
        known = map(self._offsets.get, records.keys, repeat(0))
        return list(map(ge, records.offsets, known))
