"""Tally: what one task counts, a period at a time; picklable, and merged with others'."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interfaces.spark.reports.histogram import Histogram


class Tally:
    """Records, bytes and latencies in microseconds of each period; the warm-up is not counted."""

    def __init__(self, periods: int) -> None:
        self.records = [0] * periods
        self.bytes = [0] * periods
        self.errors = [0] * periods
        self.latencies = [Histogram() for _ in range(periods)]
        self.delays = Histogram()
        self.partitions: dict[str, int] = {}

    def count(self, period: int, records: int, size_bytes: int) -> None:
        if period >= 0:
            self.records[period] += records
            self.bytes[period] += size_bytes

    def time(self, period: int, latencies_us: Sequence[float] | Any) -> None:
        import numpy

        if period >= 0:
            self.latencies[period].add(numpy.asarray(latencies_us))

    def merge(self, other: Tally) -> None:
        for mine, theirs in (
            (self.records, other.records),
            (self.bytes, other.bytes),
            (self.errors, other.errors),
        ):
            mine[:] = map(sum, zip(mine, theirs, strict=True))
        for mine_too, theirs_too in zip(self.latencies, other.latencies, strict=True):
            mine_too.merge(theirs_too)
        self.delays.merge(other.delays)
        for place, records in other.partitions.items():
            self.partitions[place] = self.partitions.get(place, 0) + records

    def all_latencies(self) -> Histogram:
        whole = Histogram()
        for each in self.latencies:
            whole.merge(each)
        return whole


def merged(tallies: Sequence[Tally], periods: int) -> Tally:
    whole = Tally(periods)
    for tally in tallies:
        whole.merge(tally)
    return whole
