"""Trimming: removes batches below the log start from the store, in slices.

Unfinished partitions are marked in the store, so a restart continues.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import partial

from application.background.job import COMMIT, SLICE, Job
from application.background.loaded import loaded
from application.background.runner import Runner
from application.ports.log_store import LogStore
from application.ports.partition_repository import PartitionRepository
from application.ports.placement import Placement
from application.ports.stream_index import StreamIndex
from application.ports.transaction_index import TransactionIndex
from application.state.catalog import Catalog
from application.state.commits import Commits
from domain.errors import NotLeaderOrFollower, StorageFailed
from domain.partitions.partition import Partition
from domain.partitions.transactions import NONE_ABORTED

#: Per commit: each removal dirties pages of the store.
BATCHES_PER_COMMIT = 256

#: Topic and partition index.
TopicPartition = tuple[str, int]


class Trimming:
    def __init__(
        self,
        log: LogStore,
        catalog: Catalog,
        partitions: PartitionRepository,
        transaction_index: TransactionIndex,
        stream_index: StreamIndex,
        commits: Commits,
        background: Runner,
        placement: Placement,
    ) -> None:
        self._log = log
        self._catalog = catalog
        self._partitions = partitions
        self._transaction_index = transaction_index
        self._stream_index = stream_index
        self._commits = commits
        self._background = background
        #: In order.
        self._waiting: dict[TopicPartition, None] = {}
        # Continues what the previous leader has not finished.
        placement.on_moved(lambda _: self.start())

    def __len__(self) -> int:
        return len(self._waiting)

    def start(self) -> None:
        """Continues what the last run, or another leader, has not finished."""
        unfinished = set(self._partitions.trimming())
        if unfinished:
            self._begin(
                (topic.name, index)
                for topic in self._catalog
                for index, partition_id in enumerate(topic.partition_ids)
                if partition_id in unfinished
            )

    def stage(self, partition: Partition) -> None:
        """In the same commit as the new log start, so that a restart continues."""
        self._partitions.save_trimming(partition.partition_id, unfinished=True)

    def begin(self, partitions: Iterable[Partition]) -> None:
        self._begin((partition.topic, partition.index) for partition in partitions)

    def _begin(self, keys: Iterable[TopicPartition]) -> None:
        self._waiting.update(dict.fromkeys(keys))
        if self._waiting:
            self._background.start(self._trim)

    def _trim(self) -> Job[None]:
        while self._waiting:
            yield SLICE
            key = next(iter(self._waiting))
            try:
                staged = yield from loaded(partial(self._stage, key))
            except StorageFailed as unreadable:
                finished = False
                yield unreadable.as_value()
            else:
                # None: its topic was deleted, with all its data.
                finished = staged is None or ((yield COMMIT) is None and staged)
            del self._waiting[key]
            if not finished:
                self._waiting[key] = None  # behind the others

    def _find(self, key: TopicPartition) -> Partition | None:
        name, index = key
        topic = self._catalog.topic(name)
        if topic is not None:
            with suppress(NotLeaderOrFollower):  # its leader trims it
                return self._catalog.partition(topic, index, waits=False)
        return None

    def _stage(self, key: TopicPartition) -> bool | None:
        """True if nothing is left to trim after the next commit; None without such a partition.

        Raises StorageFailed, and NotInMemory.
        """
        partition = self._find(key)
        if partition is None:
            return None
        partition_id, offset = partition.partition_id, partition.log_start_offset
        # First all reads: one that fails, or is repeated, must leave nothing staged. `trim` reads
        # before it stages.
        aborted: list[int] = []
        if partition.transactions.last_aborted_offset != NONE_ABORTED:
            aborted = self._transaction_index.below(partition_id, offset, BATCHES_PER_COMMIT)
        chunks = self._stream_index.below(partition_id, offset, BATCHES_PER_COMMIT)
        trimmed = self._log.trim(partition_id, offset, BATCHES_PER_COMMIT)
        for last_offset in aborted:
            self._transaction_index.remove(partition_id, last_offset)
        for end in chunks:
            self._stream_index.remove(partition_id, end)
        finished = (
            trimmed.done
            and max(len(aborted), len(chunks)) < BATCHES_PER_COMMIT
            # A log start that is not durable yet is trimmed up to later.
            and partition.end.start_offset == offset
        )
        if finished:
            self._partitions.save_trimming(partition_id, unfinished=False)
        partition.trimmed(trimmed.size_bytes)
        self._commits.touch(partition)
        return finished
