"""Contents: what this process knows of the store: what is staged, all rows, where logs end, and
the batches of late.
"""

from __future__ import annotations

from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.memory.store import MemoryStore
from infrastructure.storage.postgresql.cache import CachedEntry, LogCache
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.staged import Staged

#: Of batches.
CACHE_BYTES = 128 << 20

#: In order: each one goes behind all others.
_ROWS = """
    select "table", coalesce(key, place), value from ottla_rows order by "table", place
"""
#: The last offset of each log, by steps from one partition to the next.
_ENDS = """
    with recursive steps as (
        (select partition_id, last_offset from ottla_entries
         order by partition_id desc, last_offset desc limit 1)
        union all
        select found.partition_id, found.last_offset from steps, lateral (
            select partition_id, last_offset from ottla_entries
            where partition_id < steps.partition_id
            order by partition_id desc, last_offset desc limit 1) found)
    select partition_id, last_offset from steps
"""


class Contents:
    __slots__ = ("_changes", "_rows", "cache", "ends", "staged", "state")

    def __init__(self) -> None:
        self.staged = Staged()
        self._rows = MemoryStore()
        #: Reads of all rows: they are in memory.
        self.state = MemoryStateStore(self._rows)
        self.cache = LogCache(CACHE_BYTES)
        #: Of each log that has a batch: the offset after the last one.
        self.ends: dict[int, int] = {}
        self._changes: dict[int, int] = {}

    def load(self, connection: Rows) -> None:
        """Raises psycopg.Error."""
        with connection.cursor() as cursor:
            for table, key, value in cursor.stream(_ROWS, binary=True):
                self.state.put(table, key, value)
        self._rows.keep()
        for partition_id, last_offset in connection.execute(_ENDS):
            self.ends[partition_id] = last_offset + 1

    def end_pass(self) -> Staged:
        staged, self.staged = self.staged, Staged()
        staged.end()
        return staged

    def committed(self, staged: Staged) -> None:
        for (table, key), value in staged.rows.items():
            self.state.put(table, key, value)
        self._rows.keep()
        for partition_id, first, last in staged.removed:
            self._changes[partition_id] = self.changes_of(partition_id) + 1
            self.cache.remove(partition_id, first, last)
            if not first and self.ends.get(partition_id, 0) <= last + 1:
                self.ends.pop(partition_id, None)
        for one in staged.replaced:
            self._changes[one.partition_id] = self.changes_of(one.partition_id) + 1
            self.cache.remove(one.partition_id, one.last_offset, one.last_offset)
            self._reach(one.partition_id, one.last_offset)
        for one in staged.added:
            start = self.ends.get(one.partition_id, 0)
            self.cache.add(one.partition_id, CachedEntry(start, one.last_offset, one.data))
            self._reach(one.partition_id, one.last_offset)

    def changes_of(self, partition_id: int) -> int:
        """How often entries of a log were removed or replaced."""
        return self._changes.get(partition_id, 0)

    def _reach(self, partition_id: int, last_offset: int) -> None:
        self.ends[partition_id] = max(self.ends.get(partition_id, 0), last_offset + 1)
