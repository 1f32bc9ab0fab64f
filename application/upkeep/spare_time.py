"""SpareTime: the scheduler of all that goes on beside requests. It has an end.

Before the store is closed nothing may touch it any more: what was to be called then is not.
"""

from __future__ import annotations

from collections.abc import Callable

from application.ports.scheduler import Scheduler, Timer


class SpareTime:
    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.is_over = False
        self._at_end: list[Callable[[], None]] = []

    def at_end(self, callback: Callable[[], None]) -> None:
        """For what was put off, and is not to be lost."""
        self._at_end.append(callback)

    def end(self) -> None:
        if self.is_over:
            return
        self.is_over = True
        for callback in self._at_end:
            callback()

    def soon(self, callback: Callable[[], None]) -> None:
        self.scheduler.soon(lambda: self._call(callback))

    def after_ms(self, delay_ms: int, callback: Callable[[], None]) -> Timer:
        return self.scheduler.after_ms(delay_ms, lambda: self._call(callback))

    def _call(self, callback: Callable[[], None]) -> None:
        if not self.is_over:
            callback()
