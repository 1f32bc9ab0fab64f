"""Deadlines: wakes a group when something of it may be due.

A group says when it next wants to be looked at. Heartbeats move that moment on all the time, so a
timer is never moved: it goes off, the group looks at the time, and says when to come again.
"""

from __future__ import annotations

from collections.abc import Callable

from application.ports.clock import Clock
from application.ports.scheduler import Scheduler, Timer

#: When a group that could not be looked at is looked at again.
RETRY_MS = 1000


class Deadlines:
    def __init__(
        self, scheduler: Scheduler, clock: Clock, due: Callable[[str], int | None]
    ) -> None:
        """`due` gets a group's id and returns the group's next deadline, if it has one."""
        self._scheduler = scheduler
        self._clock = clock
        self._due = due
        self._timers: dict[str, tuple[int, Timer]] = {}

    def watch(self, group_id: str, deadline_ms: int | None) -> None:
        """Looks at the group at this monotonic time, or before."""
        if deadline_ms is None:
            return
        waiting = self._timers.get(group_id)
        if waiting is not None:
            if waiting[0] <= deadline_ms:
                return
            waiting[1].cancel()
        delay_ms = max(0, deadline_ms - self._clock.monotonic_ms())
        timer = self._scheduler.after_ms(delay_ms, lambda: self._wake(group_id))
        self._timers[group_id] = (deadline_ms, timer)

    def forget(self, group_id: str) -> None:
        """It is no more."""
        waiting = self._timers.pop(group_id, None)
        if waiting is not None:
            waiting[1].cancel()

    def watch_again(self, group_id: str) -> None:
        """It could not be looked at: what was wrong may not be the next time."""
        self.watch(group_id, self._clock.monotonic_ms() + RETRY_MS)

    def _wake(self, group_id: str) -> None:
        del self._timers[group_id]
        try:
            next_ms = self._due(group_id)
        except Exception:
            self.watch_again(group_id)
            raise
        self.watch(group_id, next_ms)
