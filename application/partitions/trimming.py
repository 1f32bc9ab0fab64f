"""Trimming: what lies below the start of a log is removed from the store, a slice at a time.

A restart continues where this run stopped: the store knows which partitions are not done.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from application.background.job import COMMIT, SLICE, Job
from application.background.runner import Runner
from application.ports.log_store import LogStore
from application.ports.partition_repository import PartitionRepository
from application.ports.placement import Placement
from application.state.catalog import Catalog
from application.state.commits import Commits
from domain.errors import NotLeaderOrFollower, StorageFailed
from domain.partitions.partition import Partition

#: In one commit: each of them dirties pages of the store.
BATCHES_PER_COMMIT = 256

#: Topic and partition index.
TopicPartition = tuple[str, int]


class Trimming:
    def __init__(
        self,
        log: LogStore,
        catalog: Catalog,
        partitions: PartitionRepository,
        commits: Commits,
        background: Runner,
        placement: Placement,
    ) -> None:
        self._log = log
        self._catalog = catalog
        self._partitions = partitions
        self._commits = commits
        self._background = background
        #: In the order in which they are to be trimmed.
        self._waiting: dict[TopicPartition, None] = {}
        # What another node has not finished, once this one leads the partition.
        placement.on_moved(lambda _: self.start())

    def __len__(self) -> int:
        return len(self._waiting)

    def start(self) -> None:
        """What the last run, or another leader, did not finish."""
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

    def _begin(self, places: Iterable[TopicPartition]) -> None:
        self._waiting.update(dict.fromkeys(places))
        if self._waiting:
            self._background.start(self._trim)

    def _trim(self) -> Job[None]:
        while self._waiting:
            yield SLICE
            place = next(iter(self._waiting))
            try:
                partition = self._find(place)
            except StorageFailed as unreadable:
                finished = False
                yield unreadable.as_value()
            else:
                # None: its topic was deleted, and all of it goes.
                finished = partition is None or self._stage(partition)
                if partition is not None and (yield COMMIT) is not None:
                    finished = False
            del self._waiting[place]
            if not finished:
                self._waiting[place] = None  # behind the others

    def _find(self, place: TopicPartition) -> Partition | None:
        name, index = place
        topic = self._catalog.topic(name)
        if topic is not None:
            with suppress(NotLeaderOrFollower):  # its leader trims it
                return self._catalog.partition(topic, index)
        return None

    def _stage(self, partition: Partition) -> bool:
        """Whether nothing of it is left to be trimmed once that is committed."""
        offset = partition.log_start_offset
        trimmed = self._log.trim(partition.partition_id, offset, BATCHES_PER_COMMIT)
        # A start that is on its way to the disk is trimmed up to when it is there.
        finished = trimmed.done and partition.end.start_offset == offset
        if finished:
            self._partitions.save_trimming(partition.partition_id, unfinished=False)
        partition.trimmed(trimmed.size_bytes)
        self._commits.touch(partition)
        return finished
