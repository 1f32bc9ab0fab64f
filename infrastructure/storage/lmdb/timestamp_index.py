"""The timestamp index in LMDB: keys ascend with their values, the offsets."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from application.ports.log_store import IndexEntry
from infrastructure.storage.lmdb.keys import KEY, OFFSET

if TYPE_CHECKING:
    from lmdb import Cursor

#: The largest timestamp, and the length of the longest range.
_LONG_MAX = (1 << 63) - 1

_pack_key = KEY.pack
_unpack_key = KEY.unpack


def delete_index_below(
    cursor: Cursor[memoryview], partition_id: int, offset: int, limit: int
) -> bool:
    found = cursor.set_range(_pack_key(partition_id, 0))
    for _ in range(limit):
        if not found or not _leads_below(cursor, partition_id, offset):
            return True
        cursor.delete()
        found = len(cursor.key()) > 0
    return not found or not _leads_below(cursor, partition_id, offset)


def _leads_below(cursor: Cursor[memoryview], partition_id: int, offset: int) -> bool:
    if _unpack_key(cursor.key())[0] != partition_id:
        return False
    return bool(OFFSET.unpack(cursor.value())[0] < offset)


def replace_index(
    cursor: Cursor[memoryview],
    partition_id: int,
    first_offset: int,
    last_offset: int,
    indexed: Sequence[IndexEntry],
) -> None:
    def is_after(timestamp: int) -> bool:
        found = cursor.set_range(_pack_key(partition_id, timestamp))
        return not found or not _leads_below(cursor, partition_id, first_offset)

    # One above the timestamp of the entry before, or 0.
    first = bisect_left(range(_LONG_MAX), True, key=is_after)
    found = cursor.set_range(_pack_key(partition_id, first))
    while found and _leads_below(cursor, partition_id, last_offset + 1):
        cursor.delete()
        found = len(cursor.key()) > 0
    after, timestamp_after = _unpack_key(cursor.key()) if found else (None, 0)
    for timestamp, offset in indexed:
        if after != partition_id or timestamp < timestamp_after:
            key = _pack_key(partition_id, max(timestamp, first - 1, 0))
            cursor.put(key, OFFSET.pack(offset))
