"""Runs: in which tail the entries of a log are.

A tail is a table to which entries are appended until it is full. A run says: from this offset on,
up to the next run of the log, the entries are in that tail. Entries that no run covers are dead:
no reader sees them, and they go with their table.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

ABOVE_ALL_OFFSETS = (1 << 63) - 1


class Run(NamedTuple):
    first_offset: int
    tail: int


#: Of one log, ascending.
LogRuns = tuple[Run, ...]


class Span(NamedTuple):
    """Part of a run: entries of these last offsets."""

    tail: int
    first_offset: int
    end_offset: int


class Runs:
    """Of all logs that this broker leads.

    What commits changes them, and the loop with what the broker gains and loses; any thread reads
    them. A log is changed by one of them at a time: what is gained or lost is not written to.
    """

    __slots__ = ("_count", "_lock", "_of")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: dict[int, LogRuns] = {}
        self._count: Counter[int] = Counter()

    def of(self, partition_id: int) -> LogRuns:
        return self._of.get(partition_id, ())

    def put(self, partition_id: int, runs: LogRuns) -> None:
        with self._lock:
            before = self.of(partition_id)
            more, gone = added(before, runs), LogRuns()
            if more is None:
                more, gone = runs, before
            # First, so that a tail with runs has some at any time.
            self._count.update(run.tail for run in more)
            if runs:
                self._of[partition_id] = runs
            else:
                self._of.pop(partition_id, None)
            self._count.subtract(run.tail for run in gone)
            for tail in {run.tail for run in gone}:
                if not self._count[tail]:
                    del self._count[tail]

    def are_in(self, tail: int) -> bool:
        return self._count[tail] > 0

    def all_in(self, tail: int) -> list[tuple[int, int]]:
        """Partition ids and first offsets of the runs in it."""
        return [
            (partition_id, run.first_offset)
            for partition_id in self.partition_ids()
            for run in self.of(partition_id)
            if run.tail == tail
        ]

    def partition_ids(self) -> list[int]:
        return list(self._of)


def spans(runs: LogRuns, first_offset: int, end_offset: int = ABOVE_ALL_OFFSETS) -> Iterator[Span]:
    for at in range(max(_place_of(runs, first_offset), 0), len(runs)):
        run = runs[at]
        if run.first_offset >= end_offset:
            break
        end = runs[at + 1].first_offset if at + 1 < len(runs) else ABOVE_ALL_OFFSETS
        span = Span(run.tail, max(run.first_offset, first_offset), min(end, end_offset))
        if span.first_offset < span.end_offset:
            yield span


def tail_of(runs: LogRuns, offset: int) -> int | None:
    at = _place_of(runs, offset)
    return runs[at].tail if at >= 0 else None


def newly_in(tail: int, before: LogRuns, after: LogRuns) -> Iterator[Span]:
    """Of which offsets this tail has the entries now, and had not before."""
    new = added(before, after)
    for span in spans(after if new is None else new, 0):
        if span.tail != tail:
            continue
        first_offset = span.first_offset
        for had in spans(before, *span[1:]):
            if had.tail == tail:
                if had.first_offset > first_offset:
                    yield Span(tail, first_offset, had.first_offset)
                first_offset = had.end_offset
        if first_offset < span.end_offset:
            yield Span(tail, first_offset, span.end_offset)


def _place_of(runs: LogRuns, offset: int) -> int:
    """Of the run that has it; -1: it is below all."""
    return bisect_right(runs, offset, key=attrgetter("first_offset")) - 1


def added(before: LogRuns, after: LogRuns) -> LogRuns | None:
    """What was appended, if nothing else has changed."""
    count = len(before)
    return after[count:] if after[:count] == before else None


def without(runs: LogRuns, end_offset: int) -> LogRuns:
    """Nothing below this offset is left."""
    return tuple(Run(one.first_offset, one.tail) for one in spans(runs, end_offset))


def until(runs: LogRuns, end_offset: int) -> LogRuns:
    """Those that begin below this offset."""
    return runs[: _place_of(runs, end_offset - 1) + 1]


def moved(runs: LogRuns, span: Span, log_end: int) -> LogRuns:
    """The entries of these offsets are in that tail now. `log_end` may be older than the runs."""
    tail, first_offset, end_offset = span
    before = until(runs, first_offset)
    if not before or before[-1].tail != tail:
        before = (*before, Run(first_offset, tail))
    # No empty part at the end of the log. A run that begins there has entries.
    if end_offset >= log_end and (not runs or runs[-1].first_offset < end_offset):
        return before
    at = _place_of(runs, end_offset)
    behind = runs[at + 1 :]
    if at >= 0 and runs[at].tail != tail:
        behind = (Run(end_offset, runs[at].tail), *behind)
    elif at < 0 and behind and behind[0].tail == tail:
        behind = behind[1:]
    return before + behind
