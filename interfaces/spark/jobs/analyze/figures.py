"""Figures: what is counted of records, of a range, a partition or a topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from interfaces.spark.jobs.analyze.batches import Batches
from interfaces.spark.jobs.analyze.over_time import LastDay, Moments
from interfaces.spark.reports.histogram import Histogram

#: Damaged places that are named; all are counted.
MOST_PROBLEMS = 5
SUMS = (
    *("records", "key_bytes", "value_bytes", "header_bytes", "null_keys", "tombstones"),
    *("intervals", "earlier", "control_records", "damaged"),
)


class Figures:
    def __init__(self) -> None:
        self.sums = dict.fromkeys(SUMS, 0)
        #: The first offset that was read.
        self.start = 0
        #: Times in ms, in the order of offsets.
        self.first_ms: int | None = None
        self.last_ms: int | None = None
        #: And in that of time.
        self.oldest_ms: int | None = None
        self.newest_ms: int | None = None
        self.largest = 0
        self.longest_ms = 0
        self.sizes, self.intervals = Histogram(), Histogram()
        self.moments, self.last_day = Moments(), LastDay()
        self.batches = Batches()
        self.problems: list[str] = []

    @property
    def bytes(self) -> int:
        return sum(self.sums[f"{part}_bytes"] for part in ("key", "value", "header"))

    def add_interval(self, milliseconds: int) -> None:
        import numpy

        self.add_intervals(numpy.array([milliseconds]))

    def add_intervals(self, milliseconds: Any) -> None:
        """From each record to the next; below zero where that one is the older of the two."""
        forwards = milliseconds[milliseconds >= 0]
        self.sums["intervals"] += len(milliseconds)
        self.sums["earlier"] += len(milliseconds) - len(forwards)
        self.intervals.add(forwards)
        self.longest_ms = max(self.longest_ms, int(forwards.max(initial=0)))

    def follow(self, after: Figures) -> None:
        """What comes next in the same partition."""
        if self.last_ms is not None and after.first_ms is not None:
            self.add_interval(after.first_ms - self.last_ms)
        self.batches.follow(after.batches)
        self._merge(after)
        self.first_ms = after.first_ms if self.first_ms is None else self.first_ms
        self.last_ms = self.last_ms if after.last_ms is None else after.last_ms

    def merge(self, other: Figures) -> None:
        """Another partition: nothing comes after anything else."""
        self.batches.merge(other.batches)
        self._merge(other)

    def _merge(self, other: Figures) -> None:
        for name, count in other.sums.items():
            self.sums[name] += count
        self.largest = max(self.largest, other.largest)
        self.longest_ms = max(self.longest_ms, other.longest_ms)
        self.oldest_ms = min(_known(self.oldest_ms, other.oldest_ms), default=None)
        self.newest_ms = max(_known(self.newest_ms, other.newest_ms), default=None)
        self.sizes.merge(other.sizes)
        self.intervals.merge(other.intervals)
        self.moments.merge(other.moments)
        self.last_day.merge(other.last_day)
        self.problems = [*self.problems, *other.problems][:MOST_PROBLEMS]

    # ---- from a task to the driver

    def to_json(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in _PLAIN}
        return plain | {name: getattr(self, name).to_json() for name in _PARTS}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Figures:
        made = cls()
        for name in _PLAIN:
            setattr(made, name, data[name])
        for name, kind in _PARTS.items():
            setattr(made, name, kind.from_json(data[name]))
        return made


_PLAIN = (
    *("sums", "start", "first_ms", "last_ms", "oldest_ms", "newest_ms"),
    *("largest", "longest_ms", "problems"),
)
_PARTS: dict[str, Any] = {
    "sizes": Histogram,
    "intervals": Histogram,
    "moments": Moments,
    "last_day": LastDay,
    "batches": Batches,
}


def _known(*times: int | None) -> list[int]:
    return [time for time in times if time is not None]


def of_partition(ranges: Iterable[Figures]) -> Figures:
    """Ranges as tasks read them, in any order."""
    whole = Figures()
    for figures in sorted(ranges, key=lambda each: each.start):
        whole.follow(figures)
    return whole
