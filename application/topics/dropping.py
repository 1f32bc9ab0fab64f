"""Dropping: removes the data of deleted topics from the store, in slices.

Partitions are marked as doomed in the store until their data is removed, so a restart continues.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import partial

from application.background.job import COMMIT, END_OF_COMMIT, SLICE, Job
from application.background.loaded import loaded
from application.background.runner import Runner
from application.ports.log_store import LogStore
from application.ports.partition_repository import PartitionRepository
from application.ports.stream_index import StreamIndex
from application.ports.topic_repository import TopicRepository
from application.ports.transaction_index import TransactionIndex
from domain.errors import StorageFailed

#: Per commit: each removal dirties pages of the store.
BATCHES_PER_COMMIT = 256
ROWS_PER_COMMIT = 1000


class Dropping:
    def __init__(
        self,
        log: LogStore,
        topics: TopicRepository,
        partitions: PartitionRepository,
        transaction_index: TransactionIndex,
        stream_index: StreamIndex,
        background: Runner,
    ) -> None:
        self._log = log
        self._topics = topics
        self._partitions = partitions
        self._transaction_index = transaction_index
        self._stream_index = stream_index
        self._background = background
        self._doomed: deque[int] = deque()
        #: Rows of some of them may be in flight; only committed ones are found.
        self._are_in_flight = False

    def __len__(self) -> int:
        return len(self._doomed)

    def start(self) -> None:
        """Continues what the last run has not finished."""
        self.begin(self._topics.doomed_partitions())

    def begin(self, partition_ids: Iterable[int]) -> None:
        self._doomed.extend(partition_ids)
        self._are_in_flight = True
        if self._doomed:
            self._background.start(self._drop)

    def _drop(self) -> Job[None]:
        while self._doomed:
            yield SLICE
            failure = None
            try:
                if self._are_in_flight:
                    self._are_in_flight = False
                    failure = yield END_OF_COMMIT
                if failure is None:
                    empty = yield from loaded(partial(self._stage, self._doomed[0]))
                    failure = yield COMMIT
            except StorageFailed as unreadable:
                failure = unreadable.as_value()
                yield failure
            if failure is not None:
                self._doomed.rotate(-1)  # only this partition may be damaged
            elif empty:
                self._doomed.popleft()

    def _stage(self, partition_id: int) -> bool:
        # First: it may raise NotInMemory, and nothing may be staged then.
        empty = self._log.drop(partition_id, BATCHES_PER_COMMIT)
        empty = empty and self._partitions.forget(partition_id, ROWS_PER_COMMIT)
        empty = empty and self._transaction_index.drop(partition_id, ROWS_PER_COMMIT)
        empty = empty and self._stream_index.drop(partition_id, ROWS_PER_COMMIT)
        if empty:
            self._topics.dropped(partition_id)
        return empty
