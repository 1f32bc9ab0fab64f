"""The room that a topic will need, if it goes on as on its last day."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from interfaces.spark.jobs.analyze.over_time import MINUTE_MS, MINUTES_OF_A_DAY, LastDay

DAY_MS = 86_400_000
DAYS_KEPT = (1, 7, 30)
#: In these a disk is not full, as far as anybody can tell.
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
    """Of the last day: what is analysed may be old, and clocks of producers may be wrong."""
    return max((min(each, now_ms) for each in newest if each is not None), default=now_ms)


def rate_of(day: LastDay, oldest_ms: int | None, end_ms: int, of_store: bool) -> Rate | None:
    """None where there is no time to tell it from: no record, or all of them in a minute."""
    if oldest_ms is None:
        return None
    first_minute = end_ms // MINUTE_MS - MINUTES_OF_A_DAY + 1
    counts = [counts for minute, counts in day.minutes.items() if minute >= first_minute]
    span_ms = end_ms - max(first_minute * MINUTE_MS, oldest_ms)
    if span_ms < MINUTE_MS:
        return None
    records = sum(each[0] for each in counts)
    return Rate(span_ms, records, sum(each[2 if of_store else 1] for each in counts))


def told(bytes_per_day: float) -> dict[str, Any]:
    kept = {f"{days}_days": round(bytes_per_day * days) for days in DAYS_KEPT}
    return {"bytes_per_day": round(bytes_per_day), "bytes_kept": kept}


def full_on(disk: int, used: int, bytes_per_day: float, now_ms: int) -> str | None:
    """The date, in UTC, that what is kept now and what comes will fill it; None: not in years."""
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    left = disk - used
    if left <= 0:
        return now.date().isoformat()
    if left >= bytes_per_day * _NEVER_DAYS:
        return None
    return (now + timedelta(days=left / bytes_per_day)).date().isoformat()
