"""The model of log start offsets, by commit number, and of removed batches.

A log start offset only rises, only by DeleteRecords and retention, and at most to the log end
offset. Removed batches are below it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from domain.partitions.partition import UP_TO_HIGH_WATERMARK
from tests.simulation.disk import Trim
from tests.simulation.entries import Entry, Times, first_at_or_after
from tests.simulation.limits import Limits
from tests.simulation.timeline import FOR_EVER

if TYPE_CHECKING:
    from tests.simulation.model import Model

Name = str | bytes
NO_START = -1


class Starts:
    def __init__(
        self,
        model: Model,
        limits: Limits,
        latest_ms: Callable[[], int],
        violation: type[Exception],
    ) -> None:
        """`latest_ms`: of all times that the wall clock has had."""
        self._model = model
        self._limits = limits
        self._latest_ms = latest_ms
        self._violation = violation
        #: How often retention moved one.
        self.times_expired = 0
        #: Of each partition: commit and start.
        self._moves: dict[int, list[tuple[int, int]]] = {}
        #: Requested offsets by topic and partition.
        self._requested: dict[tuple[str, int], set[int]] = {}

    # ---- requests

    def requested(self, topic: str, index: int, offset: int) -> None:
        self._requested.setdefault((topic, index), set()).add(offset)

    # ---- commits

    def persisted(self, partition_id: int, start: int, commit: int) -> None:
        before = self.at(partition_id, commit)
        if start == before:
            return
        if start < before:
            raise self._violation(f"the start of {partition_id} goes back from {before} to {start}")
        if start > self._model.end(partition_id, commit):
            raise self._violation(f"{partition_id} starts at {start}, which is not committed")
        requested = self._requested.get(self.name_of(partition_id), set())
        if start not in requested and UP_TO_HIGH_WATERMARK not in requested:
            # A client may have moved it in the same commit, before retention did.
            firsts = [before, *(offset for offset in requested if before < offset < start)]
            if not any(self._may_expire(partition_id, first, start) for first in firsts):
                raise self._violation(
                    f"{partition_id} starts at {start}; no client and no limit requires that"
                )
            self.times_expired += 1
        self._moves.setdefault(partition_id, []).append((commit, start))

    def _may_expire(self, partition_id: int, first: int, start: int) -> bool:
        if not self._deletes(partition_id):
            return False
        log = self._log(partition_id, first)
        removed = [entry for entry in log if entry.last < start]
        left = log[len(removed) :]
        if left and left[0].base < start:
            return False
        return self._limits.allow(removed, left, self._latest_ms())

    def _log(self, partition_id: int, start: int) -> list[Entry]:
        log = self._model.history.get(partition_id, ())
        return [entry for entry in log if entry.last >= start and entry.data]

    def _deletes(self, partition_id: int) -> bool:
        return self._model.compaction.deletes(self.name_of(partition_id)[0])

    def trimmed(self, change: Trim, commit: int) -> None:
        partition_id = change.partition_id
        start = self.at(partition_id, commit)
        for entry in self._log(partition_id, 0)[: change.count]:
            if entry.last >= start:
                raise self._violation(
                    f"{entry.base}-{entry.last} of {partition_id} was removed, which starts at "
                    f"{start}"
                )
            entry.becomes(commit, b"")

    # ---- state

    def at(self, partition_id: int, commit: int = FOR_EVER) -> int:
        moves = self._moves.get(partition_id, ())
        return max((start for number, start in moves if number <= commit), default=0)

    def between(self, partition_id: int, first: int, last: int) -> list[int]:
        """Returns its values between the two commits."""
        moves = self._moves.get(partition_id, ())
        return [self.at(partition_id, first)] + [s for at, s in moves if first < at <= last]

    def name_of(self, partition_id: int) -> tuple[str, int]:
        for known in self._model.incarnations.values():
            for topic in known:
                if partition_id in topic.partition_ids:
                    return topic.name, topic.partition_ids.index(partition_id)
        raise self._violation(f"{partition_id} belongs to no topic")

    def check_stored(self, partition_id: int, commit: int, batches: list[bytes]) -> None:
        """Checks that exactly the batches below the start are removed."""
        start = self.at(partition_id, commit)
        if batches != [entry.data for entry in self._log(partition_id, start)]:
            raise self._violation(f"partition {partition_id}, from {start} on, has other batches")

    def expired(self, commit: int, now_ms: int) -> list[int]:
        """Returns the partitions of which retention should have removed records by then."""
        ids = (one for topic in self._model.live() for one in topic.partition_ids)
        return [
            one
            for one in ids
            if self._deletes(one)
            and self._limits.has_expired(self._log(one, self.at(one, commit)), now_ms)
        ]

    # ---- responses

    def check_low_watermark(
        self, topic: str, index: int, offset: int, low: int, first: int, last: int
    ) -> None:
        """Checks a successful DeleteRecords."""
        for one in self._model._candidates(topic, index):
            reached = low >= offset if offset >= 0 else low >= self._model.end(one, first)
            if reached and low in self.between(one, first, last):
                return
        raise self._violation(
            f"{topic}-{index} starts at {low} in the response, requested was {offset}"
        )

    def beyond(self, topic: str, index: int, offset: int, first: int) -> None:
        """Checks a DeleteRecords that is out of range."""
        ends = [self._model.end(one, first) for one in self._model._candidates(topic, index)]
        if offset == UP_TO_HIGH_WATERMARK or (offset >= 0 and all(offset <= end for end in ends)):
            raise self._violation(f"{topic}-{index} ends at {ends}, and {offset} was out of range")

    def check_start(self, topic: Name, index: int, start: int, first: int, last: int) -> None:
        if not self.is_possible(topic, index, start, first, last):
            raise self._violation(f"{topic!r}-{index} starts at {start} in the response")

    def is_possible(self, topic: Name, index: int, start: int, first: int, last: int) -> bool:
        candidates = self._model._candidates(topic, index)
        return any(start in self.between(one, first, last) for one in candidates)

    def fetched(
        self, topic: Name, index: int, position: int, start: int, first: int, last: int
    ) -> None:
        """Checks that a successful fetch is not below the log start offset."""
        candidates = self._model._candidates(topic, index)
        if all(position < self.at(one, first) for one in candidates):
            raise self._violation(f"{topic!r}-{index} was fetched at {position}, which is deleted")
        if start != NO_START:
            self.check_start(topic, index, start, first, last)

    def is_deleted(self, topic: Name, index: int, position: int, last: int) -> bool:
        """Returns True if the position may be out of range after DeleteRecords."""
        candidates = self._model._candidates(topic, index)
        return any(position < self.at(one, last) for one in candidates)

    def possible_by_time(
        self, partition_id: int, timestamp: int, first: int, last: int
    ) -> list[tuple[int, int] | None]:
        """Returns the possible results of a search by timestamp."""
        log = self._model.history.get(partition_id, ())
        #: Commits at which it began and ended: a search that waits for records may see that they
        #: are removed, but not those of the same keys that were appended since it began.
        moments = {(first, first), (last, last)}
        if partition_id in self._model.compacted:
            between = {form.since for entry in log for form in entry.forms}
            commits = [first, *(one for one in sorted(between) if first < one <= last)]
            moments.update(combinations_with_replacement(commits, 2))
        return [
            first_at_or_after(self._times_from(partition_id, start, *moment), timestamp)
            for start in self.between(partition_id, first, last)
            for moment in moments
        ]

    def _times_from(self, partition_id: int, start: int, first: int, last: int) -> list[Times]:
        return [
            tuple(one for one in entry.times_at(last) if one[0] >= start)
            for entry in self._model.history.get(partition_id, ())
            if entry.commit <= first and entry.last >= start
        ]
