"""Plan: what the changes of a pass do to the runs of the logs, and to the tails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from domain.messages.batch import EXTENT
from infrastructure.storage.postgresql.runs import (
    LogRuns,
    Run,
    Runs,
    Span,
    added,
    moved,
    newly_in,
    spans,
    tail_of,
    until,
    without,
)
from infrastructure.storage.postgresql.staged import Staged


class Plan:
    """For one commit, into the current tail."""

    __slots__ = ("_emptied", "_ends", "_runs", "dead", "new_runs", "tail")

    def __init__(self, runs: Runs, ends: Mapping[int, int], tail: int) -> None:
        self._runs = runs
        self._ends = ends
        self.tail = tail
        #: Logs of which nothing is left but new entries.
        self._emptied: set[int] = set()
        #: Of the logs whose runs change.
        self.new_runs: dict[int, LogRuns] = {}
        #: Bytes of entries that are not needed any more, by tail.
        self.dead: Counter[int] = Counter()

    def take(self, staged: Staged) -> None:
        for one in staged.freed:
            tail = tail_of(self._runs.of(one.partition_id), one.last_offset)
            if tail is not None:
                self.dead[tail] += one.size_bytes
        for rewritten in staged.rewritten:
            self.move(rewritten.partition_id, rewritten.first_offset, rewritten.last_offset + 1)
        for partition_id, last_offset in staged.trimmed.items():
            is_empty = last_offset + 1 >= self._ends.get(partition_id, 0)
            runs = self.of(partition_id)
            self.new_runs[partition_id] = () if is_empty else without(runs, last_offset + 1)
            if is_empty:
                self._emptied.add(partition_id)
        appended: set[int] = set()
        for entry in staged.added:
            if entry.partition_id not in appended:
                appended.add(entry.partition_id)
                self._append(entry.partition_id, entry.data)

    def of(self, partition_id: int) -> LogRuns:
        found = self.new_runs.get(partition_id)
        return self._runs.of(partition_id) if found is None else found

    def left_of(self, partition_id: int, span: Span) -> Span | None:
        """The entries of these offsets if they are still there, without those that were trimmed."""
        runs = self.of(partition_id)
        left = list(spans(runs, span.first_offset, span.end_offset))
        if len(left) != 1 or left[0].tail != span.tail or left[0].end_offset != span.end_offset:
            return None
        is_whole = left[0].first_offset == span.first_offset
        return left[0] if is_whole or left[0].first_offset == runs[0].first_offset else None

    def move(self, partition_id: int, first_offset: int, end_offset: int) -> None:
        span = Span(self.tail, first_offset, end_offset)
        runs = moved(self.of(partition_id), span, self._ends.get(partition_id, 0))
        self.new_runs[partition_id] = runs

    def _append(self, partition_id: int, data: bytes) -> None:
        runs, end = self.of(partition_id), self._ends.get(partition_id)
        if not runs or end is None:
            [base_offset, *_] = EXTENT.unpack_from(data)
            self.new_runs[partition_id] = (Run(base_offset, self.tail),)
        elif runs[-1].tail != self.tail or runs[-1].first_offset > end:
            # Compaction may have left nothing of the last ones.
            runs = until(runs, end)
            if not runs or runs[-1].tail != self.tail:
                runs = (*runs, Run(end, self.tail))
            self.new_runs[partition_id] = runs

    def new_ranges(self) -> list[tuple[int, int, int]]:
        """Partition id, first and end offset of what the current tail has now, and had not before.

        Entries that are there already are dead: the log was in another tail meanwhile, or begins
        again.
        """
        found: list[tuple[int, int, int]] = []
        for partition_id, runs in self.new_runs.items():
            before = () if partition_id in self._emptied else self._runs.of(partition_id)
            new = newly_in(self.tail, before, runs)
            found += ((partition_id, span.first_offset, span.end_offset) for span in new)
        return found

    def put(self) -> list[tuple[int, int, int]]:
        """Partition id, first offset and tail of the runs that are new, or in another tail."""
        put: list[tuple[int, int, int]] = []
        for partition_id, runs in self.new_runs.items():
            before = self._runs.of(partition_id)
            more = added(before, runs)
            if more is None:
                known = set(before)
                more = tuple(run for run in runs if run not in known)
            put += ((partition_id, *run) for run in more)
        return put

    def removed(self) -> list[tuple[int, int]]:
        """Partition id and first offset of the runs that are gone."""
        removed: list[tuple[int, int]] = []
        for partition_id, runs in self.new_runs.items():
            before = self._runs.of(partition_id)
            if added(before, runs) is None:
                left = {run.first_offset for run in runs}
                gone = (run.first_offset for run in before if run.first_offset not in left)
                removed += ((partition_id, one) for one in gone)
        return removed
