"""Collecting: reads all sources in slices of the loop's time, once for all who ask meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from time import perf_counter_ns

from application.metrics.family import Reading, Source
from application.pending import Pending
from application.ports.scheduler import Scheduler
from application.telling import tell_each
from infrastructure.observability.metrics_text import MetricsText

#: The loop has other work after so long.
SLICE_NS = 500_000
#: Text leaves in pieces of at least this size.
PIECE_BYTES = 64 * 1024

Result = list[bytes] | Exception


class Collector:
    """Calls back with every reading, and then with None, or with the fault that ended it."""

    def __init__(self, sources: Sequence[Source], scheduler: Scheduler) -> None:
        self._sources = sources
        self._scheduler = scheduler

    def collect(
        self, take: Callable[[Reading], None], done: Callable[[Exception | None], None]
    ) -> None:
        self._slice(chain.from_iterable(source() for source in self._sources), take, done)

    def _slice(
        self,
        readings: Iterator[Reading],
        take: Callable[[Reading], None],
        done: Callable[[Exception | None], None],
    ) -> None:
        ends_ns = perf_counter_ns() + SLICE_NS
        try:
            for reading in readings:
                take(reading)
                if perf_counter_ns() > ends_ns:
                    self._scheduler.soon(lambda: self._slice(readings, take, done))
                    return
        except Exception as fault:
            done(fault)
            return
        done(None)


class Scrapes:
    """The text of all metrics. Who asks while it is being made gets the same."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._waiting: list[Pending[Result]] = []

    def scrape(self) -> Pending[Result]:
        """Pieces of text; or, which is a fault of ours, why there are none."""
        pending: Pending[Result] = Pending()
        self._waiting.append(pending)
        if len(self._waiting) == 1:
            self._begin()
        return pending

    def _begin(self) -> None:
        text = MetricsText()
        pieces: list[bytes] = []
        bunch: list[bytes] = []
        size_bytes = 0

        def take(reading: Reading) -> None:
            nonlocal size_bytes
            made = text.of(reading)
            bunch.append(made)
            size_bytes += len(made)
            if size_bytes >= PIECE_BYTES:
                pieces.append(b"".join(bunch))
                bunch.clear()
                size_bytes = 0

        def done(fault: Exception | None) -> None:
            pieces.append(b"".join(bunch))
            waiting, self._waiting = self._waiting, []
            result = pieces if fault is None else fault
            faults = tell_each(waiting, lambda pending: pending.resolve(result))
            if faults:
                raise faults[0]

        self._collector.collect(take, done)
