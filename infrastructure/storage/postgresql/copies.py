"""Copies of each acknowledged record: on the server, and on the standbys that commits wait for.

They are counted over the connection of reads: the watch may itself wait for a standby that is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from infrastructure.storage.engine import ToLoop
from infrastructure.storage.loading_thread import LoadingThread

#: Of ANY 1 (a, b) commits wait for one standby, however many are connected. Which ones are
#: synchronous is shown to superusers and members of pg_monitor.
_AWAITED = r"""
    coalesce(substring(current_setting('synchronous_standby_names')
        from '^\s*(?:\w+\s+)?(\d+)\s*\(')::int, 1)
"""
_NO_COMMIT_WAITS = "current_setting('synchronous_commit') in ('off', 'local')"
COPIES = f"""
    1 + case when {_NO_COMMIT_WAITS} then 0 else least({_AWAITED},
        (select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum'))) end
"""
#: One that is not shown counts as synchronous.
_LACKS_STANDBY = f"""
    not {_NO_COMMIT_WAITS} and current_setting('synchronous_standby_names') <> ''
    and {_AWAITED} > (
        select count(*) from pg_stat_replication
        where coalesce(sync_state, 'sync') in ('sync', 'quorum'))
"""
_COUNT = f"select {COPIES}, {_LACKS_STANDBY}"

#: Executes a statement with values.
Ask = Callable[[str, Mapping[str, int]], list[tuple[Any, ...]]]


class _Counted(NamedTuple):
    copies: int
    lacks_standby: bool = False


class PostgresCopies:
    def __init__(self, ask: Ask, to_loop: ToLoop, fixed: int = 0) -> None:
        """`fixed`: as the operator says; 0: as the server shows."""
        self._ask = ask
        self._fixed = fixed
        self._thread = LoadingThread(self._counted, self._take, to_loop, "ottla-copies")
        self._is_asked = False
        self._newest = self._counted()

    @property
    def count(self) -> int:
        return self._newest.copies

    @property
    def lacks_standby(self) -> bool:
        """Commits wait until it is connected."""
        return self._newest.lacks_standby

    def look(self) -> None:
        """On the loop, now and then."""
        if not self._fixed and not self._is_asked:
            self._is_asked = self._thread.put(None)

    def _counted(self, _: None = None) -> _Counted:
        if self._fixed:
            return _Counted(self._fixed)
        try:
            [(copies, lacks_standby)] = self._ask(_COUNT, {})
        except Exception:  # the thread goes on
            return _Counted(1)  # it is not known; the standby may be the primary now
        return _Counted(copies, lacks_standby)

    def _take(self, _: None, counted: _Counted) -> None:
        self._is_asked = False
        self._newest = counted

    def close(self, most_s: float) -> None:
        self._thread.close(most_s)
