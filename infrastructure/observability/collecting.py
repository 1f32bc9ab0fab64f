"""Collecting: reads all metrics in slices, once for all scrapes that overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from application.background.job import SLICE, Job
from application.background.runner import JobResult, Runner
from application.metrics.families.family import Reading, Source
from application.partitions.reading import STUCK_MS
from application.ports.pending import Pending
from application.state.notifying import notify_each
from infrastructure.observability.metrics_text import MetricsText

#: Size of the pieces of text, at least.
PIECE_BYTES = 64 * 1024

Result = list[bytes]


def _no_job() -> Job[None]:
    yield from ()


class Collector:
    def __init__(
        self, sources: Sequence[Source], background: Runner, load: Callable[[], Job[None]] = _no_job
    ) -> None:
        """`background` is a runner of its own: a scrape does not wait for the broker's jobs. `load`
        is done first.
        """
        self._sources = sources
        self._background = background
        self._load = load

    def collect(self, take: Callable[[Reading], None]) -> JobResult[None]:
        """Calls `take` with every reading."""
        return self._background.run(self._read(take))

    def _read(self, take: Callable[[Reading], None]) -> Job[None]:
        yield self._background.run_unless_stuck(self._load(), STUCK_MS)
        for reading in chain.from_iterable(source() for source in self._sources):
            take(reading)
            yield SLICE


class Scrapes:
    """The text of all metrics; scrapes that overlap get the same."""

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
            faults = notify_each(waiting, outcome)
            if faults:
                raise faults[0]

        def done(_: None) -> None:
            pieces.append(b"".join(bunch))
            tell(lambda pending: pending.resolve(pieces))

        def failed(fault: Exception) -> None:
            tell(lambda pending: pending.fail(fault))

        self._collector.collect(take).then(done, failed)
