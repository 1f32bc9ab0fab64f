"""What one task counts in each period, merged with that of other tasks.

A record counts if it was *sent* in the measured time. Its latency counts to the period in which it
was sent, however late it is acknowledged or received, so that a broker that stalls does not hide
the records that wait for it; it counts to the rate of the period in which it is acknowledged or
received.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interfaces.spark.reports.histogram import Histogram


class Tally:
    """Records, bytes and latencies in microseconds of each period."""

    def __init__(self, periods: int) -> None:
        self.periods = periods
        self.records = [0] * periods
        self.bytes = [0] * periods
        self.errors = [0] * periods
        #: With those of the warm-up: before the measured time, and then in each period.
        self.passed = [0] * (1 + periods)
        self.latencies = [Histogram() for _ in range(periods)]
        self.delays = Histogram()
        self.partitions: dict[str, int] = {}

    def count(self, now: int, sent: Any, sizes: Any, latencies_us: Any) -> None:
        """Records that come in the period `now`; `sent` are their periods of sending."""
        import numpy

        if now < self.periods:
            self.passed[1 + now] += len(sent)
        measured = (sent >= 0) & (sent < self.periods)
        if 0 <= now < self.periods:
            self.records[now] += int(measured.sum())
            self.bytes[now] += int(sizes[measured].sum())
        for period in numpy.unique(sent[measured]).tolist():
            self.latencies[period].add(latencies_us[sent == period])

    def fail(self, sent: int) -> None:
        if 0 <= sent < self.periods:
            self.errors[sent] += 1

    def merge(self, other: Tally) -> None:
        for mine, theirs in (
            (self.records, other.records),
            (self.bytes, other.bytes),
            (self.errors, other.errors),
            (self.passed, other.passed),
        ):
            mine[:] = map(sum, zip(mine, theirs, strict=True))
        for latencies, others in zip(self.latencies, other.latencies, strict=True):
            latencies.merge(others)
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
