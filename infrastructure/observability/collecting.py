"""Collecting: reads all sources in slices of the loop's time, once for all who ask meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import chain
from time import perf_counter_ns

from application.long_work import LongAnswer, LongWork
from application.metrics.family import Reading, Source
from application.pending import Pending
from application.ports.scheduler import Scheduler
from application.telling import tell_each
from infrastructure.observability.metrics_text import MetricsText

#: The loop has other work after so long.
SLICE_NS = 500_000
#: Text leaves in pieces of at least this size.
PIECE_BYTES = 64 * 1024

Result = list[bytes]


class Collector:
    def __init__(self, sources: Sequence[Source], scheduler: Scheduler) -> None:
        self._sources = sources
        # Its own: whoever watches the broker does not wait for those that are watched.
        self._long_work = LongWork(scheduler)

    def collect(self, take: Callable[[Reading], None]) -> LongAnswer[None]:
        """Calls back with every reading."""
        return self._long_work.begin(self._slices(take))

    def _slices(self, take: Callable[[Reading], None]) -> Generator[None, None, None]:
        ends_ns = perf_counter_ns() + SLICE_NS
        for reading in chain.from_iterable(source() for source in self._sources):
            take(reading)
            if perf_counter_ns() > ends_ns:
                yield
                ends_ns = perf_counter_ns() + SLICE_NS


class Scrapes:
    """The text of all metrics. Who asks while it is being made gets the same."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._waiting: list[Pending[Result]] = []

    def scrape(self) -> Pending[Result]:
        """Pieces of text."""
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

        def tell(outcome: Callable[[Pending[Result]], None]) -> None:
            waiting, self._waiting = self._waiting, []
            faults = tell_each(waiting, outcome)
            if faults:
                raise faults[0]

        def done(_: None) -> None:
            pieces.append(b"".join(bunch))
            tell(lambda pending: pending.resolve(pieces))

        def failed(fault: Exception) -> None:
            tell(lambda pending: pending.fail(fault))

        self._collector.collect(take).then(done, failed)
