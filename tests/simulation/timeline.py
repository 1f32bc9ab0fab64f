"""The time of a world: a heap of events, and the loop of the broker's process.

As with a real loop, events that are due are read in one pass or in several, as the seed decides,
and callbacks of `soon` run at the end of the pass.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from random import Random

from tests.fakes.batches import TIMESTAMP

FOR_EVER = 1 << 62

Callback = Callable[[], None]


class ProcessDied(BaseException):
    """Unwinds the broker's code where its process is killed; no `except` stops it."""


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
        #: Offset of the wall clock.
        self.clock_is_off_ms = 0
        #: The largest so far.
        self.clock_was_ahead_ms = 0
        #: When it changed, and what it became.
        self._clock_jumps = [(0, 0)]
        #: The loop of the running process, if any.
        self.loop: ProcessLoop | None = None

    def now_ms(self) -> int:
        return TIMESTAMP + self.now + self.clock_is_off_ms

    def set_clock(self, by_ms: int) -> None:
        self.clock_is_off_ms += by_ms
        self.clock_was_ahead_ms = max(self.clock_was_ahead_ms, self.clock_is_off_ms)
        self._clock_jumps.append((self.now, self.clock_is_off_ms))

    @property
    def clock_is_behind_ms(self) -> int:
        """Of the latest reading, but for the time since then."""
        return self.clock_was_ahead_ms - self.clock_is_off_ms

    def latest_ms(self) -> int:
        """No reading of the wall clock was later."""
        return TIMESTAMP + self.now + self.clock_was_ahead_ms

    def earliest_ms(self, since: int) -> int:
        """No reading of the wall clock was earlier, from that time on."""
        _, is_off_ms = next(jump for jump in reversed(self._clock_jumps) if jump[0] <= since)
        later = (at + off for at, off in self._clock_jumps if at > since)
        return TIMESTAMP + min(since + is_off_ms, *later, FOR_EVER)

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
        """Advances time; returns False if `done` is not True in time."""
        heap = self._heap
        while not done():
            loop = self.loop
            busy = loop is not None and loop.busy
            if not busy:
                if not heap or heap[0][0] > until_ms:
                    return False
                self.now = max(self.now, heap[0][0])
            self._run_due()
            if self.loop is not None:
                try:
                    self.loop.run_pass()
                except ProcessDied:
                    pass
        return True

    def _run_due(self) -> None:
        """Runs all due events, or some of them: the rest runs in the next pass."""
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
    """The port `Scheduler` of one broker process; callbacks of a dead one never run."""

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
        """A world has no threads."""
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
