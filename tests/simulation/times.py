"""Possible results of a search by timestamp, from the timestamps of the records."""

from __future__ import annotations

from collections.abc import Iterable

from domain.messages.batch import LOG_APPEND_TIME, RecordBatch

#: Offset and timestamp.
Times = tuple[tuple[int, int], ...]


def times_of(batch: RecordBatch, written: tuple[int, ...]) -> Times:
    """Timestamps of a batch in the log; `written` is empty for invalid records."""
    if batch.attributes & LOG_APPEND_TIME:
        return ((batch.base_offset, batch.max_timestamp),)
    return tuple((batch.base_offset + delta, time) for delta, time in enumerate(written))


def first_at_or_after(log: Iterable[Times], timestamp: int) -> tuple[int, int] | None:
    return next((one for times in log for one in times if one[1] >= timestamp), None)
