"""Latencies in an HdrHistogram: three significant digits, and merged over tasks without loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy

#: Of the reports of OpenMessaging.
PERCENTILES = (50.0, 75.0, 95.0, 99.0, 99.9, 99.99)
_DIGITS, _HIGHEST = 3, 24 * 3600 * 10**6
#: HdrHistogram takes values one by one, in Python: equal ones of so many are recorded at once.
_AT_ONCE = 1 << 16
#: Of a curve, between a percentile and the one half as far from 100.
_STEPS = 4


class Histogram:
    """Of microseconds up to a day; what is below 0 counts as 0. Pickled it takes some kilobytes."""

    def __init__(self, encoded: str = "", total: int = 0) -> None:
        self._encoded, self._sum = encoded, total
        #: Made on first use: an HdrHistogram takes 230 kB.
        self._hdr: Any = None
        self._waiting: list[numpy.ndarray] = []

    def add(self, values: numpy.ndarray) -> None:
        import numpy

        if len(values):
            values = numpy.clip(values.astype(numpy.int64), 0, _HIGHEST)
            self._sum += int(values.sum())
            self._waiting.append(values)
            if sum(map(len, self._waiting)) >= _AT_ONCE:
                self._recorded()

    def merge(self, other: Histogram) -> None:
        if encoded := other._packed():
            self._recorded().decode_and_add(encoded)
        self._sum += other._sum

    @property
    def count(self) -> int:
        return int(self._recorded().get_total_count())

    @property
    def mean(self) -> float:
        return self._sum / count if (count := self.count) else 0.0

    @property
    def max(self) -> int:
        return int(self._recorded().get_max_value())

    def percentiles(self) -> dict[float, int]:
        """0 of nothing."""
        found = self._recorded().get_percentile_to_value_dict(PERCENTILES)
        return {**dict.fromkeys(PERCENTILES, 0), **found}

    def curve(self) -> list[tuple[float, int]]:
        """(percentile, value), closer and closer together towards 100: for a plot of the tail."""
        steps = self._recorded().get_percentile_iterator(_STEPS)
        return [(each.percentile_level_iterated_to, each.value_iterated_to) for each in steps]

    def _recorded(self) -> Any:
        from hdrh.histogram import HdrHistogram

        if self._hdr is None:
            self._hdr = HdrHistogram(1, _HIGHEST, _DIGITS)
            if self._encoded:
                self._hdr.decode_and_add(self._encoded)
        if self._waiting:
            self._record(self._hdr)
        return self._hdr

    def _record(self, hdr: Any) -> None:
        import numpy

        values = numpy.concatenate(self._waiting)
        self._waiting.clear()
        shifts = numpy.maximum(numpy.frexp(values)[1] - 11, 0)  # what three digits leave out
        each, counts = numpy.unique(values >> shifts << shifts, return_counts=True)
        for value, count in zip(each.tolist(), counts.tolist(), strict=True):
            hdr.record_value(value, count)

    def _packed(self) -> str:
        is_used = self._hdr is not None or self._waiting
        return str(self._recorded().encode(), "ascii") if is_used else self._encoded

    def __reduce__(self) -> tuple[type[Histogram], tuple[str, int]]:
        return Histogram, (self._packed(), self._sum)
