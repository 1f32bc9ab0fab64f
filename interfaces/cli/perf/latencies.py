"""Latencies: what is said of many of them, in the words of Kafka's tools."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

_MEGABYTE = 1024 * 1024


class Latencies:
    """All of them, in milliseconds."""

    def __init__(self) -> None:
        self._all = array("d")

    def add(self, milliseconds: float) -> None:
        self._all.append(milliseconds)

    def __len__(self) -> int:
        return len(self._all)

    @property
    def average(self) -> float:
        return sum(self._all) / len(self._all) if self._all else 0.0

    @property
    def largest(self) -> float:
        return max(self._all, default=0.0)

    def percentiles(self, shares: Sequence[float]) -> list[int]:
        """As Kafka picks them, in whole milliseconds."""
        ordered = sorted(self._all)
        if not ordered:
            return [0 for _ in shares]
        return [int(ordered[min(int(share * len(ordered)), len(ordered) - 1)]) for share in shares]


def rates(count: int, size_bytes: int, seconds: float) -> tuple[float, float]:
    """Records and megabytes a second."""
    seconds = max(seconds, 1e-3)
    return count / seconds, size_bytes / seconds / _MEGABYTE


def window_line(count: int, size_bytes: int, seconds: float, latencies: Latencies) -> str:
    records, megabytes = rates(count, size_bytes, seconds)
    return (
        f"{count} records sent, {records:.1f} records/sec ({megabytes:.2f} MB/sec), "
        f"{latencies.average:.1f} ms avg latency, {latencies.largest:.1f} ms max latency."
    )


def total_line(count: int, size_bytes: int, seconds: float, latencies: Latencies) -> str:
    records, megabytes = rates(count, size_bytes, seconds)
    half, most, nearly, almost = latencies.percentiles((0.5, 0.95, 0.99, 0.999))
    return (
        f"{count} records sent, {records:f} records/sec ({megabytes:.2f} MB/sec), "
        f"{latencies.average:.2f} ms avg latency, {latencies.largest:.2f} ms max latency, "
        f"{half} ms 50th, {most} ms 95th, {nearly} ms 99th, {almost} ms 99.9th."
    )
