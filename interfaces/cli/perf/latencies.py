"""Latencies, and the lines of Kafka's performance tools about them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

_MEGABYTE = 1024 * 1024


#: In memory; kafka-producer-perf-test has as many.
_MOST_SAMPLES = 500_000


class Latencies:
    """In milliseconds. Percentiles are of every n-th one, so that there are not too many."""

    def __init__(self, expected: int = 0) -> None:
        self._every = max(1, -(-expected // _MOST_SAMPLES))
        self._samples = array("d")
        self.count, self._sum, self.largest = 0, 0.0, 0.0

    def add(self, milliseconds: float) -> None:
        if self.count % self._every == 0:
            self._samples.append(milliseconds)
        self.count += 1
        self._sum += milliseconds
        self.largest = max(self.largest, milliseconds)

    @property
    def average(self) -> float:
        return self._sum / self.count if self.count else 0.0

    def percentiles(self, shares: Sequence[float]) -> list[int]:
        """As Kafka picks them, in whole milliseconds."""
        ordered = sorted(self._samples)
        if not ordered:
            return [0 for _ in shares]
        return [int(ordered[min(int(share * len(ordered)), len(ordered) - 1)]) for share in shares]


def rates(count: int, size_bytes: int, seconds: float) -> tuple[float, float]:
    """Records and megabytes a second."""
    seconds = max(seconds, 1e-3)
    return count / seconds, size_bytes / seconds / _MEGABYTE


def window_line(size_bytes: int, seconds: float, latencies: Latencies) -> str:
    """`size_bytes` is of a record."""
    count = latencies.count
    records, megabytes = rates(count, count * size_bytes, seconds)
    return (
        f"{count} records sent, {records:.1f} records/sec ({megabytes:.2f} MB/sec), "
        f"{latencies.average:.1f} ms avg latency, {latencies.largest:.1f} ms max latency."
    )


def total_line(size_bytes: int, seconds: float, latencies: Latencies) -> str:
    count = latencies.count
    records, megabytes = rates(count, count * size_bytes, seconds)
    half, most, nearly, almost = latencies.percentiles((0.5, 0.95, 0.99, 0.999))
    return (
        f"{count} records sent, {records:f} records/sec ({megabytes:.2f} MB/sec), "
        f"{latencies.average:.2f} ms avg latency, {latencies.largest:.2f} ms max latency, "
        f"{half} ms 50th, {most} ms 95th, {nearly} ms 99th, {almost} ms 99.9th."
    )
