"""LoopLag: how late the event loop runs a timer, measured twice a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter_ns
from typing import Protocol

from application.metrics.families import own
from application.metrics.families.durations import Durations
from application.metrics.families.family import Reading

LOOK_EVERY_MS = 500
MS = 1_000_000


class Timers(Protocol):
    def after_ms(self, delay_ms: int, callback: Callable[[], None]) -> object: ...


class LoopLag:
    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._due_ns = 0
        self._durations = Durations()

    def start(self) -> None:
        self._due_ns = perf_counter_ns() + LOOK_EVERY_MS * MS
        self._timers.after_ms(LOOK_EVERY_MS, self._look)

    def _look(self) -> None:
        self._durations.add(max(perf_counter_ns() - self._due_ns, 0))
        self.start()

    def read(self) -> Iterator[Reading]:
        yield own.LOOP_LAG, [((), self._durations.histogram())]
