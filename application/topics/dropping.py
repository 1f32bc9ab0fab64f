"""Dropping: removes the data of deleted topics from the store, in slices.

Partitions are marked as doomed in the store until their data is removed, so a restart continues.
Their leaders drop them; the registration of a leader goes with the data.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from application.background.job import COMMIT, END_OF_COMMIT, SLICE, Job
from application.background.loaded import loaded
from application.background.runner import Runner
from application.ports.cluster_changes import ClusterChanges
from application.ports.log_store import LogStore
from application.ports.partition_repository import PartitionRepository
from application.ports.placement import Placement
from application.ports.stream_index import StreamIndex
from application.ports.topic_repository import TopicRepository
from application.ports.transaction_index import TransactionIndex
from domain.errors import StorageFailed

if TYPE_CHECKING:
    from application.cluster.registrations import Registrations

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
        placement: Placement,
        cluster_changes: ClusterChanges,
        registrations: Registrations | None,
    ) -> None:
        """Without `registrations`, this broker is the whole cluster."""
        self._log = log
        self._topics = topics
        self._partitions = partitions
        self._transaction_index = transaction_index
        self._stream_index = stream_index
        self._background = background
        self._placement = placement
        self._cluster_changes = cluster_changes
        self._registrations = registrations
        #: In order.
        self._doomed: dict[int, None] = {}
        #: Rows of some of them may be in flight; only committed ones are found.
        self._are_in_flight = False
        # Other brokers delete topics, and stop.
        topics.follow_doomed(self.start)
        placement.on_moved(lambda _: self.start())

    def __len__(self) -> int:
        return len(self._doomed)

    def start(self) -> None:
        """Continues what the last run has not finished."""
        self.begin(self._topics.doomed_partitions())

    def begin(self, partition_ids: Iterable[int]) -> None:
        self._doomed.update(dict.fromkeys(filter(self._is_led, partition_ids)))
        self._are_in_flight = True
        if self._doomed:
            self._background.start(self._drop)

    def _is_led(self, partition_id: int) -> bool:
        placement = self._placement
        if self._registrations is not None and self._registrations.find(partition_id) is None:
            return placement.controller_id == placement.node_id  # of an import that was cut
        return placement.leader(partition_id).node_id == placement.node_id

    def _drop(self) -> Job[None]:
        while self._doomed:
            yield SLICE
            failure = None
            partition_id = next(iter(self._doomed))
            try:
                if self._are_in_flight:
                    self._are_in_flight = False
                    failure = yield END_OF_COMMIT
                if failure is None:
                    empty = yield from loaded(partial(self._stage, partition_id))
                    failure = yield COMMIT
            except StorageFailed as unreadable:
                failure = unreadable.as_value()
                yield failure
            if failure is not None:
                del self._doomed[partition_id]  # only this partition may be damaged
                self._doomed[partition_id] = None
            elif empty:
                del self._doomed[partition_id]

    def _stage(self, partition_id: int) -> bool:
        """True if nothing is left after the commit, or another broker goes on."""
        # First what may raise NotInMemory: nothing may be staged then.
        self._cluster_changes.check()
        if not self._is_led(partition_id):
            return True
        empty = self._log.drop(partition_id, BATCHES_PER_COMMIT)
        empty = empty and self._partitions.forget(partition_id, ROWS_PER_COMMIT)
        empty = empty and self._transaction_index.drop(partition_id, ROWS_PER_COMMIT)
        empty = empty and self._stream_index.drop(partition_id, ROWS_PER_COMMIT)
        if empty:
            self._topics.dropped(partition_id)
            if self._registrations is not None:
                self._registrations.save([(partition_id, None)])
        return empty
