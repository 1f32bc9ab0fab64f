"""Batches of a log, in each form that they have had: compaction writes them again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from crc32c import crc32c

from domain.messages.batch import CONTROL, LOG_APPEND_TIME, RecordBatch
from tests.simulation.attempts import Attempt
from tests.simulation.timeline import FOR_EVER

#: Offset and timestamp.
Times = tuple[tuple[int, int], ...]

LAST = attrgetter("last")


class Form(NamedTuple):
    """A batch from a commit on."""

    since: int
    #: Empty: the batch is removed.
    data: bytes
    times: Times


class Entry:
    """A batch in the log."""

    __slots__ = (
        "attempt", "base", "commit", "ended", "ends", "forms", "is_control", "last", "producer",
        "time_ms", "values",
    )  # fmt: skip

    def __init__(
        self,
        batch: RecordBatch,
        values: tuple[str, ...],
        times: tuple[int, ...],
        commit: int,
        time_ms: int,
    ) -> None:
        """`times`: of the records as they were sent; empty for invalid records."""
        self.base = batch.base_offset
        self.last = batch.last_offset
        self.values = values
        self.commit = commit
        self.forms = [Form(commit, bytes(batch.buffer), _times_of(batch, times))]
        self.time_ms = time_ms
        self.producer = batch.producer_id
        self.is_control = bool(batch.attributes & CONTROL)
        #: The transaction of the batch; when its marker was committed, and whether it commits.
        self.attempt: Attempt | None = None
        self.ended: tuple[int, bool] | None = None
        #: Of a marker: the batches of the transaction.
        self.ends: list[Entry] = []

    @property
    def data(self) -> bytes:
        return self.forms[-1].data

    def becomes(self, commit: int, data: bytes, times: Times = ()) -> None:
        self.forms.append(Form(commit, data, times))

    def times_at(self, commit: int) -> Times:
        return next((one.times for one in reversed(self.forms) if one.since <= commit), ())

    def commits_with(self, data: bytes) -> tuple[int, int] | None:
        """The first and the last commit after which it had these bytes."""
        ends = [*(form.since - 1 for form in self.forms[1:]), FOR_EVER]
        for form, end in zip(self.forms, ends, strict=True):
            if form.data == data:
                return form.since, end
        return None


class Sent:
    """A batch as a client sent it."""

    __slots__ = ("data", "times", "values")

    def __init__(self, data: bytes, values: tuple[str, ...], times: tuple[int, ...]) -> None:
        self.data = data
        self.values = values
        self.times = times

    def has_header_of(self, batch: RecordBatch, stored: bytes) -> bool:
        """Only the offset, the leader epoch and, with LogAppendTime, the timestamps may change."""
        if batch.attributes & LOG_APPEND_TIME:
            sent = RecordBatch(memoryview(self.data))
            return (
                batch.attributes == sent.attributes | LOG_APPEND_TIME
                and stored[23:35] == self.data[23:35]
                and stored[43:61] == self.data[43:61]
                and batch.crc == crc32c(stored[21:])
            )
        return stored[16:61] == self.data[16:61]


def _times_of(batch: RecordBatch, times: tuple[int, ...]) -> Times:
    base = batch.base_offset
    if batch.attributes & LOG_APPEND_TIME:
        return tuple((base + delta, batch.max_timestamp) for delta in range(batch.count))
    return tuple((base + delta, time) for delta, time in enumerate(times))


def first_at_or_after(log: Iterable[Times], timestamp: int) -> tuple[int, int] | None:
    return next((one for times in log for one in times if one[1] >= timestamp), None)


def check_read(
    log: Sequence[Entry], position: int, end: int, records: bytes, first: int, last: int
) -> tuple[list[Entry], str]:
    """Returns the batches of a fetch, or why no commit between the two left such a log."""
    entries: list[Entry] = []
    at = 0
    place = bisect_left(log, position, key=LAST)
    while at < len(records):
        base = int.from_bytes(records[at : at + 8], "big")
        data = records[at : at + int.from_bytes(records[at + 8 : at + 12], "big") + 12]
        while place < len(log) and log[place].base < base:
            if log[place].data:
                return [], f"the batch at {log[place].base} is missing"
            first = max(first, log[place].forms[-1].since)
            place += 1
        entry = log[place] if place < len(log) else None
        commits = entry.commits_with(data) if entry is not None else None
        if entry is None or commits is None:
            return [], f"the batch at {base} is not what was committed there"
        if entry.commit > last:
            return [], f"the batch at {base} was returned before its commit {entry.commit}"
        if entry.last >= end:
            return [], f"the batch at {base} lies beyond {end}"
        first, last = max(first, commits[0]), min(last, commits[1])
        entries.append(entry)
        at += len(data)
        place += 1
    if first > last and len(entries):
        return [], "these batches were never in the log together"
    return entries, ""
