"""Deadlines: one timer per group, for its next timeout.

Heartbeats extend deadlines all the time, so a timer is never moved: it fires, the group checks the
time and returns its next deadline. A deadline in the past fires at the end of the pass of the loop,
because other members may join in that pass.
"""

from __future__ import annotations

from collections.abc import Callable

from application.ports.clock import Clock
from application.ports.scheduler import Scheduler, Timer

#: After a fault in a group, until it is checked again.
RETRY_MS = 1000


class GroupTimer:
    """`timer` is None if it fires at the end of the pass."""

    __slots__ = ("deadline_ms", "timer")

    def __init__(self, deadline_ms: int) -> None:
        self.deadline_ms = deadline_ms
        self.timer: Timer | None = None


class Deadlines:
    def __init__(
        self, scheduler: Scheduler, clock: Clock, due: Callable[[str], int | None]
    ) -> None:
        """`due` gets a group's id and returns the group's next deadline, if it has one."""
        self._scheduler = scheduler
        self._clock = clock
        self._due = due
        self._timers: dict[str, GroupTimer] = {}

    def watch(self, group_id: str, deadline_ms: int | None) -> None:
        """Checks the group at this monotonic time or before."""
        if deadline_ms is None:
            return
        waiting = self._timers.get(group_id)
        if waiting is not None:
            if waiting.deadline_ms <= deadline_ms:
                return
            self.cancel(group_id)
        timer = self._timers[group_id] = GroupTimer(deadline_ms)
        delay_ms = deadline_ms - self._clock.monotonic_ms()
        if delay_ms > 0:
            timer.timer = self._scheduler.after_ms(delay_ms, lambda: self._fire(group_id, timer))
        else:
            self._scheduler.soon(lambda: self._fire(group_id, timer))

    def cancel(self, group_id: str) -> None:
        timer = self._timers.pop(group_id, None)
        if timer is not None and timer.timer is not None:
            timer.timer.cancel()

    def cancel_all(self, group_ids: Callable[[str], bool]) -> None:
        for group_id in filter(group_ids, list(self._timers)):
            self.cancel(group_id)

    def _fire(self, group_id: str, timer: GroupTimer) -> None:
        if self._timers.get(group_id) is not timer:
            return  # cancelled in this pass
        del self._timers[group_id]
        try:
            next_ms = self._due(group_id)
        except Exception:
            self.watch(group_id, self._clock.monotonic_ms() + RETRY_MS)
            raise
        self.watch(group_id, next_ms)
