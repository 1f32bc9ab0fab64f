"""Dropping: removes the data of deleted topics from the store, in slices.

Partitions are marked as doomed in the store until their data is removed, so a restart continues,
or another leader: the leader of a partition removes its data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from application.background.job import COMMIT, END_OF_COMMIT, SLICE, Job, Outcome
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


class _Step(Enum):
    MORE = "more data is left"
    EMPTY = "nothing is left"
    MOVED = "another node leads the partition"


class Dropping:
    def __init__(
        self,
        log: LogStore,
        topics: TopicRepository,
        partitions: PartitionRepository,
        transaction_index: TransactionIndex,
        stream_index: StreamIndex,
        placement: Placement,
        changes: ClusterChanges,
        background: Runner,
        registrations: Registrations | None,
    ) -> None:
        """Without `registrations`, this broker is the whole cluster."""
        self._log = log
        self._topics = topics
        self._partitions = partitions
        self._transaction_index = transaction_index
        self._stream_index = stream_index
        self._placement = placement
        self._changes = changes
        self._background = background
        self._registrations = registrations
        #: In order.
        self._doomed: dict[int, None] = {}
        #: Nothing is left of them but their mark.
        self._empty: list[int] = []
        #: Rows of some of them may be in flight; only committed ones are found.
        self._are_in_flight = False
        placement.on_moved(lambda _: self.start())

    def __len__(self) -> int:
        return len(self._doomed)

    def start(self) -> None:
        """Continues what the last run, or another leader, has not finished."""
        empty = set(self._empty)
        self.begin(one for one in self._topics.doomed_partitions() if one not in empty)

    def start_soon(self) -> None:
        """When it is known, too, who leads them."""
        self._background.soon(self.start)

    def begin(self, partition_ids: Iterable[int]) -> None:
        """Those that this node leads."""
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
        failure: Outcome = None
        while self._doomed or self._empty:
            yield SLICE
            # After a failure, too: the rest may be damaged for good.
            if self._empty and (
                failure is not None or not self._doomed or len(self._empty) >= ROWS_PER_COMMIT
            ):
                failure = yield from self._unmark()
            else:
                failure = yield from self._remove(next(iter(self._doomed)))

    def _remove(self, partition_id: int) -> Job[Outcome]:
        """A slice of its data."""
        failure: Outcome = None
        step = _Step.MORE
        try:
            if self._are_in_flight:
                self._are_in_flight = False
                failure = yield END_OF_COMMIT
            if failure is None:
                step = yield from loaded(partial(self._stage, partition_id))
                failure = yield COMMIT
        except StorageFailed as unreadable:
            failure = unreadable.as_value()
            yield failure
        if failure is not None:
            # The last one from now on: only this partition may be damaged.
            del self._doomed[partition_id]
            self._doomed[partition_id] = None
        elif step is not _Step.MORE:
            del self._doomed[partition_id]
            if step is _Step.EMPTY:
                self._empty.append(partition_id)
        return failure

    def _unmark(self) -> Job[Outcome]:
        some = self._empty[:ROWS_PER_COMMIT]
        yield from loaded(partial(self._stage_marks, some))
        failure: Outcome = yield COMMIT
        if failure is None:
            del self._empty[: len(some)]
        return failure

    def _stage(self, partition_id: int) -> _Step:
        if not self._is_led(partition_id):
            return _Step.MOVED
        # First: it may raise NotInMemory, and nothing may be staged then.
        empty = self._log.drop(partition_id, BATCHES_PER_COMMIT)
        empty = empty and self._partitions.forget(partition_id, ROWS_PER_COMMIT)
        empty = empty and self._transaction_index.drop(partition_id, ROWS_PER_COMMIT)
        empty = empty and self._stream_index.drop(partition_id, ROWS_PER_COMMIT)
        return _Step.EMPTY if empty else _Step.MORE

    def _stage_marks(self, partition_ids: Sequence[int]) -> None:
        self._changes.check()
        for partition_id in partition_ids:
            self._topics.dropped(partition_id)
        if self._registrations is not None:
            self._registrations.save([(each, None) for each in partition_ids])
