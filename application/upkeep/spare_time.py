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

    def end(self) -> None:
        self.is_over = True

    def soon(self, callback: Callable[[], None]) -> None:
        self.scheduler.soon(lambda: self._call(callback))

    def after_ms(self, delay_ms: int, callback: Callable[[], None]) -> Timer:
        return self.scheduler.after_ms(delay_ms, lambda: self._call(callback))

    def _call(self, callback: Callable[[], None]) -> None:
        if not self.is_over:
            callback()
