"""The time of a world: a heap of what is to come, and the loop of the broker's process in it.

As with a real loop, all that has come by a moment may be read in one pass or in several, and what
was asked for with `soon` runs at the end of the pass. How much comes in one pass, the seed says.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from random import Random

from tests.fakes.batches import TIMESTAMP

Callback = Callable[[], None]


class ProcessDied(BaseException):
    """Unwinds the broker's code at the point where its process was killed; no `except` stops it."""


class Event:
    __slots__ = ("callback", "due_ms")

    def __init__(self, due_ms: int, callback: Callback) -> None:
        self.due_ms = due_ms
        self.callback: Callback | None = callback

    def cancel(self) -> None:
        self.callback = None


class Timeline:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._heap: list[tuple[int, int, Event]] = []
        self._count = 0
        self.now = 0
        #: By how much the wall clock is ahead.
        self.clock_is_off_ms = 0
        #: The process that runs; None while there is none.
        self.loop: ProcessLoop | None = None

    def now_ms(self) -> int:
        return TIMESTAMP + self.now + self.clock_is_off_ms

    def monotonic_ms(self) -> int:
        return self.now

    def monotonic_ns(self) -> int:
        return self.now * 1_000_000

    def after(self, delay_ms: int, callback: Callback) -> Event:
        event = Event(self.now + delay_ms, callback)
        self._count += 1
        heapq.heappush(self._heap, (event.due_ms, self._count, event))
        return event

    def run(self, until_ms: int, done: Callable[[], bool]) -> bool:
        """Lets time go by; False when `done` did not come true in time."""
        heap = self._heap
        while not done():
            loop = self.loop
            busy = loop is not None and loop.busy
            if not busy:
                if not heap or heap[0][0] > until_ms:
                    return False
                self.now = max(self.now, heap[0][0])
            self._read_some()
            if self.loop is not None:
                try:
                    self.loop.run_pass()
                except ProcessDied:
                    pass
        return True

    def _read_some(self) -> None:
        """What is due now, or a part of it: the rest comes in the next pass."""
        heap = self._heap
        now = self.now
        while heap and heap[0][0] <= now:
            event = heapq.heappop(heap)[2]
            if event.callback is None:
                continue
            try:
                event.callback()
            except ProcessDied:
                pass
            if self._random.random() < 0.2:
                return


class ProcessLoop:
    """The port `Scheduler` for one life of the broker; what a dead one asked for never runs."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._soon: list[Callback] = []
        self.alive = True
        self.timers = 0

    @property
    def busy(self) -> bool:
        return bool(self._soon)

    def soon(self, callback: Callback) -> None:
        self._soon.append(callback)

    def from_thread(self, callback: Callback) -> None:
        """Threads are none of a world's."""
        raise NotImplementedError

    def after_ms(self, delay_ms: int, callback: Callback) -> Event:
        def due() -> None:
            if self.alive:
                callback()

        return self._timeline.after(max(delay_ms, 0), due)

    def run_pass(self) -> None:
        callbacks, self._soon = self._soon, []
        for callback in callbacks:
            if not self.alive:
                return
            callback()

    def kill(self) -> None:
        self.alive = False
        self._soon.clear()
