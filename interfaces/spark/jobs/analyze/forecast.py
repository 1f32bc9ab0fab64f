"""The disk space that a topic will need if it goes on as on its last day."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from interfaces.spark.jobs.analyze.counting import DAY_S

DAY_MS = DAY_S * 1000
DAYS_KEPT = (1, 7, 30)
#: A day is not estimated from less.
_LEAST_MS = 60_000
#: No date is given for a disk that is full later than that.
_NEVER_DAYS = 3650


class Rate(NamedTuple):
    """Of the last day, or of the time since the topic's first record, if that is shorter."""

    span_ms: int
    records: float
    bytes: float

    @property
    def bytes_per_day(self) -> float:
        return self.bytes * DAY_MS / self.span_ms

    @property
    def records_per_day(self) -> float:
        return self.records * DAY_MS / self.span_ms


def end_of(newest: Iterable[int | None], now_ms: int) -> int:
    """Of the last day: the data may be old, and clocks of producers may be wrong."""
    return max((min(each, now_ms) for each in newest if each is not None), default=now_ms)


def rate_of(records: int, size: float, oldest_ms: int | None, end_ms: int) -> Rate | None:
    """None without a time to reckon from: no record, or all of them in a minute."""
    if oldest_ms is None:
        return None
    span_ms = min(DAY_MS, end_ms - oldest_ms)
    return Rate(span_ms, records, size) if span_ms >= _LEAST_MS else None


def per_day(bytes_per_day: float) -> dict[str, Any]:
    by_days = {f"{days}_days": round(bytes_per_day * days) for days in DAYS_KEPT}
    return {"bytes_per_day": round(bytes_per_day), "bytes_kept": by_days}


def full_on(disk: int, used: int, bytes_per_day: float, now_ms: int) -> str | None:
    """The date, in UTC; None: not within ten years."""
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    left = disk - used
    if left <= 0:
        return now.date().isoformat()
    if left >= bytes_per_day * _NEVER_DAYS:
        return None
    return (now + timedelta(days=left / bytes_per_day)).date().isoformat()
