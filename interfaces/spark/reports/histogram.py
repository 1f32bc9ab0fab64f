"""Histogram: how often each duration came, to a part in a thousand, and merged without loss.

As HdrHistogram has it: places are as wide as their values are large. Percentiles are of all that
was counted anywhere; an average of percentiles would be of nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy

#: So many places between a power of two and the next one.
_BITS = 10
_HALF = 1 << _BITS

#: As far as OpenMessaging's reports tell.
PERCENTILES = (50.0, 75.0, 95.0, 99.0, 99.9, 99.99)


class Histogram:
    """Of whole numbers from 0; what is below counts as 0."""

    def __init__(self, counts: Mapping[int, int] | None = None) -> None:
        self._counts: dict[int, int] = dict(counts or {})
        self.sum = 0.0

    def add(self, values: numpy.ndarray) -> None:
        import numpy

        if not len(values):
            return
        values = numpy.maximum(values.astype(numpy.int64), 0)
        shifts = numpy.maximum(numpy.frexp(values.astype(numpy.float64))[1] - (_BITS + 1), 0)
        places, counts = numpy.unique(shifts * _HALF + (values >> shifts), return_counts=True)
        for place, count in zip(places.tolist(), counts.tolist(), strict=True):
            self._counts[place] = self._counts.get(place, 0) + count
        self.sum += float(values.sum())

    def merge(self, other: Histogram) -> None:
        for place, count in other._counts.items():
            self._counts[place] = self._counts.get(place, 0) + count
        self.sum += other.sum

    @property
    def count(self) -> int:
        return sum(self._counts.values())

    @property
    def mean(self) -> float:
        return self.sum / count if (count := self.count) else 0.0

    @property
    def max(self) -> int:
        return _highest(max(self._counts)) if self._counts else 0

    def at(self, percentile: float) -> int:
        """The value that so many of a hundred do not exceed; 0 of nothing."""
        return self._at([percentile])[0]

    def percentiles(self, wanted: Iterable[float] = PERCENTILES) -> dict[float, int]:
        ordered = sorted(wanted)
        return dict(zip(ordered, self._at(ordered), strict=True))

    def curve(self, points: int = 120) -> list[tuple[float, int]]:
        """(percentile, value), closer and closer together towards 100: for a plot of the tail."""
        deepest = max(self.count, 10)
        shares = [1 - deepest ** (-step / points) for step in range(points + 1)]
        percentiles = [share * 100 for share in shares]
        return list(zip(percentiles, self._at(percentiles), strict=True))

    def by_powers(self) -> list[tuple[int, int, int]]:
        """(from, to, how many): 0, 1, 2 to 3, 4 to 7 and so on, also where there are none."""
        counts: dict[int, int] = {}
        for place, count in self._counts.items():
            power = _highest(place).bit_length()
            counts[power] = counts.get(power, 0) + count
        if not counts:
            return []
        powers = range(min(counts), max(counts) + 1)
        return [(1 << power >> 1, (1 << power) - 1, counts.get(power, 0)) for power in powers]

    def _at(self, ascending: list[float]) -> list[int]:
        places = sorted(self._counts)
        if not places:
            return [0] * len(ascending)
        total, seen, at = self.count, self._counts[places[0]], 0
        found = []
        for percentile in ascending:
            while seen < percentile / 100 * total - 1e-9 and at + 1 < len(places):
                at += 1
                seen += self._counts[places[at]]
            found.append(_highest(places[at]))
        return found

    # ---- between processes, and in files

    def to_json(self) -> dict[str, Any]:
        return {"counts": {str(k): v for k, v in self._counts.items()}, "sum": self.sum}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Histogram:
        made = cls({int(k): v for k, v in data["counts"].items()})
        made.sum = data["sum"]
        return made


def _highest(place: int) -> int:
    """The largest value that counts there."""
    if place < 2 * _HALF:
        return place
    shift = place // _HALF - 1
    return ((place - shift * _HALF + 1) << shift) - 1
