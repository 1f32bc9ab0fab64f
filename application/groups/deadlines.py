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


class Wake:
    """Of one group; `timer` is None where it is due at the end of the pass."""

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
        self._wakes: dict[str, Wake] = {}

    def watch(self, group_id: str, deadline_ms: int | None) -> None:
        """Looks at the group at this monotonic time, or before."""
        if deadline_ms is None:
            return
        waiting = self._wakes.get(group_id)
        if waiting is not None:
            if waiting.deadline_ms <= deadline_ms:
                return
            self.forget(group_id)
        wake = self._wakes[group_id] = Wake(deadline_ms)
        delay_ms = deadline_ms - self._clock.monotonic_ms()
        if delay_ms > 0:
            wake.timer = self._scheduler.after_ms(delay_ms, lambda: self._wake(group_id, wake))
        else:
            self._scheduler.soon(lambda: self._wake(group_id, wake))

    def forget(self, group_id: str) -> None:
        wake = self._wakes.pop(group_id, None)
        if wake is not None and wake.timer is not None:
            wake.timer.cancel()

    def _wake(self, group_id: str, wake: Wake) -> None:
        if self._wakes.get(group_id) is not wake:
            return  # forgotten in this pass
        del self._wakes[group_id]
        try:
            next_ms = self._due(group_id)
        except Exception:
            self.watch(group_id, self._clock.monotonic_ms() + RETRY_MS)
            raise
        self.watch(group_id, next_ms)
