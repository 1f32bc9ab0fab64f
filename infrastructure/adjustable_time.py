"""A clock that tests advance, and the scheduler whose timers fire then.

Both clocks of the broker go forward together; never backward. Timers fire in the order of their
times, and what they start runs before the next one fires: a member expires, its group rebalances,
the rebalance times out. A jump has at most STEPS stops, so that repeated timers do not fire
thousands of times; a timer may fire that fraction of the jump late.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from infrastructure.clock import SystemClock
from infrastructure.scheduler import AsyncioScheduler

STEPS = 1000
#: Passes of the loop after each step, as long as callbacks are waiting.
MAX_PASSES = 100

Callback = Callable[[], None]


class AdjustableClock(SystemClock):
    def __init__(self) -> None:
        self.advanced_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.advanced_ms

    def monotonic_ms(self) -> int:
        return super().monotonic_ms() + self.advanced_ms

    def monotonic_ns(self) -> int:
        return super().monotonic_ns() + self.advanced_ms * 1_000_000


class AdjustableTimer:
    __slots__ = ("_callback", "_handle", "_scheduler", "due_ms")

    def __init__(
        self, scheduler: AdjustableScheduler, due_ms: int, delay_ms: int, callback: Callback
    ) -> None:
        self._scheduler = scheduler
        self._callback = callback
        self.due_ms = due_ms
        self._handle = AsyncioScheduler.after_ms(scheduler, delay_ms, self.fire)

    def rearm(self, now_ms: int) -> None:
        """After the clock was advanced."""
        self._handle.cancel()
        delay_ms = max(self.due_ms - now_ms, 0)
        self._handle = AsyncioScheduler.after_ms(self._scheduler, delay_ms, self.fire)

    def fire(self) -> None:
        """It may still be cancelled until its callback runs."""
        self._handle.cancel()
        self._scheduler.timers.pop(self, None)
        self._scheduler.soon(self._run)

    def _run(self) -> None:
        callback, self._callback = self._callback, _nothing
        callback()

    def cancel(self) -> None:
        self._handle.cancel()
        self._callback = _nothing
        self._scheduler.timers.pop(self, None)


def _nothing() -> None:
    """The callback of cancelled timers, which would else hold what it belongs to."""


class AdjustableScheduler(AsyncioScheduler):
    __slots__ = ("_clock", "_waiting", "timers")

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: AdjustableClock) -> None:
        super().__init__(loop)
        self._clock = clock
        self.timers: dict[AdjustableTimer, None] = {}
        #: Callbacks of `soon` that have not run.
        self._waiting = 0

    def soon(self, callback: Callback) -> None:
        self._waiting += 1
        super().soon(partial(self._run, callback))

    def _run(self, callback: Callback) -> None:
        self._waiting -= 1
        callback()

    def after_ms(  # type: ignore[override]  # any Timer
        self, delay_ms: int, callback: Callback
    ) -> AdjustableTimer:
        due_ms = self._clock.monotonic_ms() + delay_ms
        timer = AdjustableTimer(self, due_ms, delay_ms, callback)
        self.timers[timer] = None
        return timer

    def cancel_all(self) -> None:
        for timer in list(self.timers):
            timer.cancel()

    async def advance(self, by_ms: int) -> None:
        """Returns when timers that are due have fired, and what they started has run."""
        step_ms = max(by_ms // STEPS, 1)
        while by_ms > 0:
            now_ms = self._clock.monotonic_ms()
            next_ms = min((timer.due_ms for timer in self.timers), default=now_ms + by_ms)
            passed_ms = min(by_ms, max(next_ms - now_ms, step_ms))
            by_ms -= passed_ms
            self._clock.advanced_ms += passed_ms
            due = [timer for timer in self.timers if timer.due_ms <= now_ms + passed_ms]
            for timer in sorted(due, key=lambda timer: timer.due_ms):
                timer.fire()
            for _ in range(MAX_PASSES):
                if not self._waiting:
                    break
                await asyncio.sleep(0)
        now_ms = self._clock.monotonic_ms()
        for timer in self.timers:
            timer.rearm(now_ms)
