"""OffsetMap: the newest offset of each key in the part of the log that is compacted next."""

from __future__ import annotations

from domain.compaction.records import Records

#: Memory of an entry while the table grows (measured): key 64, offset 32, table up to 90 bytes.
ENTRY_BYTES = 192


class OffsetMap:
    def __init__(self, max_bytes: int) -> None:
        self._offsets: dict[bytes | None, int] = {}
        self._max_entries = max_bytes // ENTRY_BYTES

    @property
    def utilization(self) -> float:
        """1.0 is full."""
        return len(self._offsets) / max(self._max_entries, 1)

    def has_room(self, count: int) -> bool:
        """For the records of a batch; one batch fits in any map."""
        return not self._offsets or len(self._offsets) + count <= self._max_entries

    def add(self, records: Records) -> None:
        self._offsets.update(zip(records.keys, records.offsets, strict=True))
        self._offsets.pop(None, None)

    def newest(self, records: Records) -> list[bool]:
        """Whether each record is the newest of its key; False for records without a key."""
        newest_of = self._offsets.get
        found = [
            offset >= newest_of(key, 0)
            for key, offset in zip(records.keys, records.offsets, strict=True)
        ]
        if None in records.keys:
            found = [
                is_newest and key is not None
                for is_newest, key in zip(found, records.keys, strict=True)
            ]
        return found
