"""Copies of each acknowledged record: on the server, and on the standbys that commits wait for.

They are counted over the connection of reads: the watch may itself wait for a standby that is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import psycopg

from domain.errors import StorageFailed
from infrastructure.storage.engine import ToLoop
from infrastructure.storage.loading_thread import LoadingThread

#: Of ANY 1 (a, b) commits wait for one standby, however many are connected. Which ones are
#: synchronous is shown to superusers and members of pg_monitor.
COPIES = r"""
    1 + case when current_setting('synchronous_commit') in ('off', 'local') then 0 else least(
        (select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum')),
        coalesce(substring(current_setting('synchronous_standby_names')
            from '^\s*(?:\w+\s+)?(\d+)\s*\(')::int, 1)) end
"""
_COUNT = f"select {COPIES}"

#: Executes a statement with values. Raises psycopg.Error or StorageFailed.
Rows = Callable[[str, Mapping[str, int]], list[tuple[Any, ...]]]


class PostgresCopies:
    def __init__(self, rows: Rows, to_loop: ToLoop, fixed: int = 0) -> None:
        """`fixed`: as the operator says; 0: as the server shows."""
        self._rows = rows
        self._fixed = fixed
        self._thread = LoadingThread(self._counted, self._take, to_loop, "ottla-copies")
        self._is_asked = False
        self.count = self._counted()

    def look(self) -> None:
        """On the loop, now and then."""
        if not self._fixed and not self._is_asked:
            self._is_asked = self._thread.put(None)

    def _counted(self, _: None = None) -> int:
        if self._fixed:
            return self._fixed
        try:
            [(count,)] = self._rows(_COUNT, {})
        except (psycopg.Error, StorageFailed):
            return 1  # it is not known; the standby may be the primary now
        return int(count)

    def _take(self, _: None, count: int) -> None:
        self._is_asked = False
        self.count = count

    def close(self, most_s: float) -> None:
        self._thread.close(most_s)
