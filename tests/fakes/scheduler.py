"""A loop run by hand: one pass, until idle, or over some time."""

from __future__ import annotations

from collections.abc import Callable

from tests.fakes.clock import FakeClock

Callback = Callable[[], None]


class FakeTimer:
    def __init__(self, due_ms: int, callback: Callback) -> None:
        self.due_ms = due_ms
        self.callback = callback
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True
        self.callback = _nothing  # as the loop's timers do, to avoid cycles


def _nothing() -> None:
    """Callback of cancelled timers."""


class FakeScheduler:
    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._soon: list[Callback] = []
        self._timers: list[FakeTimer] = []
        #: Each timer counts as one.
        self.passes = 0

    def soon(self, callback: Callback) -> None:
        self._soon.append(callback)

    def from_thread(self, callback: Callback) -> None:
        self._soon.append(callback)

    def after_ms(self, delay_ms: int, callback: Callback) -> FakeTimer:
        timer = FakeTimer(self._clock.monotonic_ms() + delay_ms, callback)
        self._timers.append(timer)
        return timer

    @property
    def timers(self) -> list[FakeTimer]:
        """Pending timers, the next one first."""
        self._timers = [timer for timer in self._timers if not timer.cancelled]
        return sorted(self._timers, key=lambda timer: timer.due_ms)

    def run_pass(self) -> None:
        """Runs callbacks scheduled before the pass; new ones wait for the next pass."""
        self.passes += 1
        callbacks, self._soon = self._soon, []
        for callback in callbacks:
            callback()

    def run(self) -> None:
        """Runs passes until nothing is scheduled."""
        for _ in range(1000):
            if not self._soon:
                return
            self.run_pass()
        raise AssertionError("the loop never becomes idle")

    def advance(self, by_ms: int) -> None:
        """Advances the time; each timer fires at its time, then the loop runs until idle."""
        self.run()
        end_ms = self._clock.monotonic_ms() + by_ms
        while (timers := self.timers) and timers[0].due_ms <= end_ms:
            self._clock.advance(max(timers[0].due_ms - self._clock.monotonic_ms(), 0))
            self._timers.remove(timers[0])
            self.passes += 1
            timers[0].callback()
            self.run()
        self._clock.advance(end_ms - self._clock.monotonic_ms())
