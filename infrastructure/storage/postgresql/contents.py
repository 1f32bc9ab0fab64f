"""Contents: what this process knows of the store: what is staged, all rows, the runs and ends of
all logs, the tails, and the batches of late.
"""

from __future__ import annotations

from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.memory.store import MemoryStore
from infrastructure.storage.postgresql.cache import CachedEntry, LogCache
from infrastructure.storage.postgresql.loading import load_ends, load_rows, load_runs
from infrastructure.storage.postgresql.runs import Runs
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.staged import Rewritten, Staged
from infrastructure.storage.postgresql.tails import TAIL_BYTES, Tails

#: Of batches.
CACHE_BYTES = 128 << 20


class Contents:
    __slots__ = ("_changes", "_rows", "cache", "ends", "runs", "staged", "state", "tails")

    def __init__(self, tail_bytes: int = TAIL_BYTES) -> None:
        self.staged = Staged()
        self._rows = MemoryStore()
        #: Reads of all rows: they are in memory.
        self.state = MemoryStateStore(self._rows)
        self.cache = LogCache(CACHE_BYTES)
        #: Both are changed by the thread that writes.
        self.runs = Runs()
        self.tails = Tails(self.runs, tail_bytes)
        #: Of each log that has a batch: the offset after the last one.
        self.ends: dict[int, int] = {}
        self._changes: dict[int, int] = {}

    def load(self, connection: Rows) -> None:
        """Raises psycopg.Error."""
        load_rows(connection, self.state)
        self._rows.keep()
        load_runs(connection, self.runs)
        self.ends = load_ends(connection, self.runs)
        self.tails.load(connection)

    def end_pass(self) -> Staged:
        staged, self.staged = self.staged, Staged()
        staged.end()
        return staged

    def committed(self, staged: Staged) -> None:
        for (table, key), value in staged.rows.items():
            self.state.put(table, key, value)
        self._rows.keep()
        for one in staged.rewritten:
            self._rewritten(one)
        for partition_id, last in staged.trimmed.items():
            self._changed(partition_id, 0, last)
            if self.ends.get(partition_id, 0) <= last + 1:
                self.ends.pop(partition_id, None)
        for entry in staged.added:
            start = self.ends.get(entry.partition_id, 0)
            self.cache.add(
                entry.partition_id, CachedEntry(start, entry.last_offset, entry.data, entry.times)
            )
            self.ends[entry.partition_id] = entry.last_offset + 1

    def _rewritten(self, one: Rewritten) -> None:
        self._changed(one.partition_id, one.first_offset, one.last_offset)
        # Nothing was appended since it was staged.
        if self.ends.get(one.partition_id) == one.last_offset + 1:
            self.ends[one.partition_id] = one.log_end

    def changes_of(self, partition_id: int) -> int:
        """How often entries of a log were removed or replaced."""
        return self._changes.get(partition_id, 0)

    def _changed(self, partition_id: int, first_offset: int, last_offset: int) -> None:
        self._changes[partition_id] = self.changes_of(partition_id) + 1
        self.cache.remove(partition_id, first_offset, last_offset)
