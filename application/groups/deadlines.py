"""Deadlines: wakes a group when something of it may be due.

A group says when it next wants to be looked at. Heartbeats move that moment on all the time, so a
timer is never moved: it goes off, the group looks at the time, and says when to come again. What is
due at once waits for the end of the pass: other members may join in it.
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
        #: With their deadlines; no timer where it is due at the end of the pass.
        self._timers: dict[str, tuple[int, Timer | None]] = {}

    def watch(self, group_id: str, deadline_ms: int | None) -> None:
        """Looks at the group at this monotonic time, or before."""
        if deadline_ms is None:
            return
        waiting = self._timers.get(group_id)
        if waiting is not None:
            if waiting[0] <= deadline_ms:
                return
            self.forget(group_id)
        delay_ms = deadline_ms - self._clock.monotonic_ms()
        timer = None
        if delay_ms > 0:
            timer = self._scheduler.after_ms(delay_ms, lambda: self._wake(group_id))
        else:
            self._scheduler.soon(lambda: self._wake(group_id))
        self._timers[group_id] = (deadline_ms, timer)

    def forget(self, group_id: str) -> None:
        _, timer = self._timers.pop(group_id, (0, None))
        if timer is not None:
            timer.cancel()

    def _wake(self, group_id: str) -> None:
        if self._timers.pop(group_id, None) is None:
            return  # forgotten in this pass
        try:
            next_ms = self._due(group_id)
        except Exception:
            self.watch(group_id, self._clock.monotonic_ms() + RETRY_MS)
            raise
        self.watch(group_id, next_ms)
