"""Counts by time that stay few, whatever times producers give their records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy

#: A second to ten days, and tenfold from there; each is a multiple of the one before it.
WIDTHS_MS = (
    *(1_000, 10_000, 60_000, 600_000, 3_600_000, 86_400_000),
    *(864_000_000 * 10**power for power in range(8)),
)
MOST_MOMENTS = 600
MINUTE_MS = 60_000
MINUTES_OF_A_DAY = 1440


class Moments:
    """Records and bytes by time, in moments as long as it takes for these to be few."""

    def __init__(self) -> None:
        self.width_ms = WIDTHS_MS[0]
        #: By number: records, bytes.
        self.counts: dict[int, list[int]] = {}

    def add(self, times: numpy.ndarray, sizes: numpy.ndarray) -> None:
        import numpy

        numbers, places = numpy.unique(times // self.width_ms, return_inverse=True)
        records = numpy.bincount(places, minlength=len(numbers)).astype(numpy.int64)
        sums: numpy.ndarray = numpy.zeros(len(numbers), dtype=numpy.int64)
        numpy.add.at(sums, places, sizes)
        self._add(zip(numbers.tolist(), records.tolist(), sums.tolist(), strict=True))

    def merge(self, other: Moments) -> None:
        while self.width_ms < other.width_ms:
            self._widen()
        times = self.width_ms // other.width_ms
        self._add((number // times, *counts) for number, counts in other.counts.items())

    def _add(self, rows: Any) -> None:
        for number, records, size in rows:
            count = self.counts.setdefault(number, [0, 0])
            count[0] += records
            count[1] += size
        while len(self.counts) > MOST_MOMENTS and self.width_ms < WIDTHS_MS[-1]:
            self._widen()

    def _widen(self) -> None:
        wider = WIDTHS_MS[WIDTHS_MS.index(self.width_ms) + 1]
        times, rows = wider // self.width_ms, self.counts
        self.width_ms, self.counts = wider, {}
        self._add((number // times, *counts) for number, counts in rows.items())

    def to_json(self) -> dict[str, Any]:
        return {"width_ms": self.width_ms, "counts": {str(k): v for k, v in self.counts.items()}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Moments:
        made = cls()
        made.width_ms = data["width_ms"]
        made.counts = {int(k): v for k, v in data["counts"].items()}
        return made


class LastDay:
    """Records, their bytes and the store's, by minute: of the newest day that is not to come.

    Nobody knows the newest time before all is read, so each part keeps its own last day; the last
    day of all of them lies within these.
    """

    def __init__(self) -> None:
        self.minutes: dict[int, list[float]] = {}

    def add(
        self, times: numpy.ndarray, sizes: numpy.ndarray, stored: numpy.ndarray, now_ms: int
    ) -> None:
        import numpy

        minutes: numpy.ndarray = times // MINUTE_MS
        past = times <= now_ms
        newest = minutes[past].max(initial=self._newest)
        wanted = past & (minutes > newest - MINUTES_OF_A_DAY)
        numbers, places = numpy.unique(minutes[wanted], return_inverse=True)
        sums = [
            numpy.bincount(places, weights=weights, minlength=len(numbers)).tolist()
            for weights in (None, sizes[wanted], stored[wanted])
        ]
        for number, *counts in zip(numbers.tolist(), *sums, strict=True):
            self._add(number, counts)
        self._forget()

    def merge(self, other: LastDay) -> None:
        for number, counts in other.minutes.items():
            self._add(number, counts)
        self._forget()

    @property
    def _newest(self) -> int:
        return max(self.minutes, default=-(2**62))

    def _add(self, number: int, counts: list[float]) -> None:
        sums = self.minutes.setdefault(number, [0, 0, 0])
        for at, count in enumerate(counts):
            sums[at] += count

    def _forget(self) -> None:
        oldest = self._newest - MINUTES_OF_A_DAY + 1
        if any(number < oldest for number in self.minutes):
            self.minutes = {n: counts for n, counts in self.minutes.items() if n >= oldest}

    def to_json(self) -> dict[str, Any]:
        return {str(number): counts for number, counts in self.minutes.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LastDay:
        made = cls()
        made.minutes = {int(number): counts for number, counts in data.items()}
        return made
