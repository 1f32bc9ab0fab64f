"""The model of where logs start, by number of commit, and of what may be removed from them.

A start moves only up, only where somebody asked for it, and only to what is committed. What is
removed lies below it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from domain.partitions.partition import UP_TO_HIGH_WATERMARK
from tests.simulation.store import Row, Trim
from tests.simulation.times import Times, first_at_or_after

if TYPE_CHECKING:
    from tests.simulation.model import Model

Name = str | bytes
NO_START = -1


class Starts:
    def __init__(self, model: Model, violation: type[Exception]) -> None:
        self._model = model
        self._violation = violation
        #: Of each partition: commit and start.
        self._moves: dict[int, list[tuple[int, int]]] = {}
        #: How many of its oldest batches are removed.
        self._removed: dict[int, int] = {}
        #: By topic and partition: what clients asked for.
        self._wanted: dict[tuple[str, int], set[int]] = {}

    # ---- what clients do

    def wanted(self, topic: str, index: int, offset: int) -> None:
        self._wanted.setdefault((topic, index), set()).add(offset)

    # ---- what is committed

    def kept(self, row: Row, commit: int) -> None:
        if row.value is None:
            return
        partition_id = int.from_bytes(row.key, "big")
        start, before = json.loads(row.value)["start"], self.at(partition_id, commit)
        if start == before:
            return
        if start < before:
            raise self._violation(f"the start of {partition_id} goes back from {before} to {start}")
        if start > self._model.end(partition_id, commit):
            raise self._violation(f"{partition_id} starts at {start}, which is not committed")
        wanted = self._wanted.get(self._name_of(partition_id), set())
        if start not in wanted and UP_TO_HIGH_WATERMARK not in wanted:
            raise self._violation(f"{partition_id} starts at {start}, and nobody asked for that")
        self._moves.setdefault(partition_id, []).append((commit, start))

    def trimmed(self, change: Trim, commit: int) -> None:
        partition_id = change.partition_id
        removed = self._removed.get(partition_id, 0)
        start = self.at(partition_id, commit)
        history = self._model.history.get(partition_id, [])
        for entry in history[removed : removed + change.count]:
            if entry.last >= start:
                raise self._violation(
                    f"{entry.base}-{entry.last} of {partition_id} was removed, which starts at "
                    f"{start}"
                )
        self._removed[partition_id] = removed + change.count

    # ---- what is there

    def at(self, partition_id: int, commit: int) -> int:
        moves = self._moves.get(partition_id, ())
        return max((start for number, start in moves if number <= commit), default=0)

    def _between(self, partition_id: int, asked: int, told: int) -> list[int]:
        """What it may have been from the one commit to the other."""
        moves = self._moves.get(partition_id, ())
        return [self.at(partition_id, asked)] + [s for at, s in moves if asked < at <= told]

    def _name_of(self, partition_id: int) -> tuple[str, int]:
        for known in self._model.incarnations.values():
            for topic in known:
                if partition_id in topic.partition_ids:
                    return topic.name, topic.partition_ids.index(partition_id)
        raise self._violation(f"{partition_id} is no topic's")

    def check_stored(self, partition_id: int, commit: int, batches: list[bytes]) -> None:
        """At the end: what lies below the start is gone, and nothing else."""
        start = self.at(partition_id, commit)
        history = self._model.history.get(partition_id, ())
        if batches != [entry.data for entry in history if entry.last >= start]:
            raise self._violation(f"partition {partition_id}, from {start} on, has other batches")

    # ---- what clients are told

    def low_told(
        self, topic: str, index: int, wanted: int, low: int, asked: int, told: int
    ) -> None:
        """DeleteRecords was answered well."""
        for one in self._model._candidates(topic, index):
            reached = low >= wanted if wanted >= 0 else low >= self._model.end(one, asked)
            if reached and low in self._between(one, asked, told):
                return
        raise self._violation(f"{topic}-{index} is said to start at {low}, wanted was {wanted}")

    def beyond(self, topic: str, index: int, wanted: int, asked: int) -> None:
        """DeleteRecords was refused, because there is no such offset yet."""
        ends = [self._model.end(one, asked) for one in self._model._candidates(topic, index)]
        if wanted == UP_TO_HIGH_WATERMARK or (wanted >= 0 and all(wanted <= end for end in ends)):
            raise self._violation(f"{topic}-{index} ends at {ends}, and {wanted} was out of range")

    def start_told(self, topic: Name, index: int, start: int, asked: int, told: int) -> None:
        if not self.is_possible(topic, index, start, asked, told):
            raise self._violation(f"{topic!r}-{index} was said to start at {start}")

    def is_possible(self, topic: Name, index: int, start: int, asked: int, told: int) -> bool:
        candidates = self._model._candidates(topic, index)
        return any(start in self._between(one, asked, told) for one in candidates)

    def fetched(
        self, topic: Name, index: int, position: int, start: int, asked: int, told: int
    ) -> None:
        """A fetch was answered well: from a place that is not deleted."""
        candidates = self._model._candidates(topic, index)
        if all(position < self.at(one, asked) for one in candidates):
            raise self._violation(f"{topic!r}-{index} was read at {position}, which is deleted")
        if start != NO_START:
            self.start_told(topic, index, start, asked, told)

    def is_deleted(self, topic: Name, index: int, position: int, told: int) -> bool:
        """Whether that may be the reason why a place is out of range."""
        candidates = self._model._candidates(topic, index)
        return any(position < self.at(one, told) for one in candidates)

    def possible_by_time(
        self, partition_id: int, wanted: int, asked: int, told: int
    ) -> list[tuple[int, int] | None]:
        """What was first when it was asked stays first, until it is deleted."""
        return [
            first_at_or_after(self._times_from(partition_id, start, commit), wanted)
            for start in self._between(partition_id, asked, told)
            for commit in (asked, told)
        ]

    def _times_from(self, partition_id: int, start: int, commit: int) -> list[Times]:
        return [
            tuple((max(offset, start), time) for offset, time in entry.times)
            if entry.is_stamped
            else tuple(one for one in entry.times if one[0] >= start)
            for entry in self._model.history.get(partition_id, ())
            if entry.commit <= commit and entry.last >= start
        ]
