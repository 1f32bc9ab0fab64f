"""Trimming: what lies below the start of a log is removed from the store, a slice at a time.

One slice, one commit, then a pause for everybody else, as `Dropping` does it. A restart goes on
where this one stopped: the store knows which partitions are not done.
"""

from __future__ import annotations

from collections.abc import Iterable

from application.commits import Commits
from application.ports.log_store import LogStore
from application.ports.partition_repository import PartitionRepository
from application.topics.catalog import Catalog
from application.upkeep.spare_time import SpareTime
from domain.errors import StorageFailed
from domain.partitions.partition import Partition

BATCHES_PER_SLICE = 256
PAUSE_MS = 2
RETRY_MS = 1000
LONGEST_RETRY_MS = 60_000

#: Topic and partition index.
Place = tuple[str, int]


class Trimming:
    def __init__(
        self,
        log: LogStore,
        catalog: Catalog,
        partitions: PartitionRepository,
        commits: Commits,
        spare_time: SpareTime,
    ) -> None:
        self._log = log
        self._catalog = catalog
        self._partitions = partitions
        self._commits = commits
        self._spare_time = spare_time
        #: In the order in which they are to be trimmed.
        self._waiting: dict[Place, None] = {}
        self._busy = False
        self._failures = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def start(self) -> None:
        """At start-up: what the last run did not finish."""
        unfinished = set(self._partitions.trimming())
        if unfinished:
            self._begin(
                (topic.name, index)
                for topic in self._catalog
                for index, partition_id in enumerate(topic.partition_ids)
                if partition_id in unfinished
            )

    def stage(self, partition: Partition) -> None:
        """In the commit that moves its start, so that no restart forgets it."""
        self._partitions.save_trimming(partition.partition_id, unfinished=True)

    def begin(self, partitions: Iterable[Partition]) -> None:
        self._begin((partition.topic, partition.index) for partition in partitions)

    def _begin(self, places: Iterable[Place]) -> None:
        self._waiting.update(dict.fromkeys(places))
        self._next_after(PAUSE_MS)

    def _next_after(self, delay_ms: int) -> None:
        if self._waiting and not self._busy:
            self._busy = True
            self._spare_time.after_ms(delay_ms, self._trim_slice)

    def _trim_slice(self) -> None:
        place = next(iter(self._waiting))
        try:
            partition = self._find(place)
        except StorageFailed as unreadable:
            self._done(place, unreadable, finished=False)
            return
        if partition is None:  # its topic was deleted, and all of it goes
            self._done(place, None, finished=True)
            return
        offset = partition.log_start_offset
        trimmed = self._log.trim(partition.partition_id, offset, BATCHES_PER_SLICE)
        # A start that is on its way to the disk is trimmed up to when it is there.
        finished = trimmed.done and partition.end.start_offset == offset
        if finished:
            self._partitions.save_trimming(partition.partition_id, unfinished=False)
        partition.trimmed(trimmed.size_bytes)
        self._commits.touch(partition)
        self._commits.when_committed(lambda failure: self._done(place, failure, finished))

    def _find(self, place: Place) -> Partition | None:
        name, index = place
        topic = self._catalog.topic(name)
        return None if topic is None else self._catalog.partition(topic, index)

    def _done(self, place: Place, failure: StorageFailed | None, finished: bool) -> None:
        """A slice that fails takes all of its pass along, so it comes back less and less often."""
        self._busy = False
        del self._waiting[place]
        if failure is None:
            self._failures = 0
            if not finished:
                self._waiting[place] = None
            self._next_after(PAUSE_MS)
            return
        self._waiting[place] = None
        delay_ms = min(RETRY_MS << self._failures, LONGEST_RETRY_MS)
        self._failures = min(self._failures + 1, 10)
        self._next_after(delay_ms)
