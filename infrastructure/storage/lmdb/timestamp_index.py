"""The timestamp index in LMDB: keys ascend with their values, the offsets."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from application.ports.log_store import IndexEntry
from infrastructure.storage.lmdb.keys import KEY, OFFSET

if TYPE_CHECKING:
    import lmdb
    from lmdb import Cursor, Transaction, _Database

#: The largest timestamp, and the length of the longest range.
_LONG_MAX = (1 << 63) - 1

_pack_key = KEY.pack
_unpack_key = KEY.unpack


class TimestampIndex:
    """Raises lmdb.Error, or struct.error for a damaged entry."""

    __slots__ = ("_database", "_env")

    def __init__(self, env: lmdb.Environment, database: _Database) -> None:
        self._env = env
        self._database = database

    def put(
        self, txn: Transaction[memoryview], partition_id: int, timestamp: int, last_offset: int
    ) -> bool:
        """Plain: a timestamp that is still the largest moves on to the later batch."""
        key = _pack_key(partition_id, timestamp)
        return txn.put(key, OFFSET.pack(last_offset), db=self._database)

    def find(self, partition_id: int, timestamp: int) -> int:
        if timestamp <= 0:
            return 0
        with self._env.begin(buffers=True) as txn:
            cursor = txn.cursor(self._database)
            at_or_after = cursor.set_range(_pack_key(partition_id, timestamp))
            before = cursor.prev() if at_or_after else cursor.last()
            if not before or _unpack_key(cursor.key())[0] != partition_id:
                return 0
            (last_offset,) = OFFSET.unpack(cursor.value())
            return int(last_offset) + 1

    def delete_below(
        self, txn: Transaction[memoryview], partition_id: int, offset: int, limit: int
    ) -> bool:
        """Up to `limit` entries; True if none is left."""
        cursor = txn.cursor(self._database)
        found = cursor.set_range(_pack_key(partition_id, 0))
        for _ in range(limit):
            if not found or not _leads_below(cursor, partition_id, offset):
                return True
            cursor.delete()
            found = len(cursor.key()) > 0
        return not found or not _leads_below(cursor, partition_id, offset)

    def delete_from(self, txn: Transaction[memoryview], partition_id: int, offset: int) -> None:
        """The entries that lead to an offset, or above."""
        cursor = txn.cursor(self._database)
        after = cursor.set_range(_pack_key(partition_id + 1, 0))
        found = cursor.prev() if after else cursor.last()
        while found and _unpack_key(cursor.key())[0] == partition_id:
            if OFFSET.unpack(cursor.value())[0] < offset:
                return
            cursor.delete()
            found = cursor.prev() if len(cursor.key()) else cursor.last()

    def replace(
        self,
        txn: Transaction[memoryview],
        partition_id: int,
        first_offset: int,
        last_offset: int,
        indexed: Sequence[IndexEntry],
    ) -> None:
        cursor = txn.cursor(self._database)

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


def _leads_below(cursor: Cursor[memoryview], partition_id: int, offset: int) -> bool:
    if _unpack_key(cursor.key())[0] != partition_id:
        return False
    return bool(OFFSET.unpack(cursor.value())[0] < offset)
