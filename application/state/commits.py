"""Commits: THE group commit. One transaction for all that arrived in one pass of the loop.

    append -> touch, wait; save row -> when_committed -> (end of the pass) begin -> Commit.commit
      durable:  watermarks rise, decisions and responses that waited go on, waiting fetches read
      failed:   every partition touched since the last good commit is rebuilt from the store at its
                next use, and all that waited get StorageFailed; nothing of it was ever visible

Partitions, decisions and responses get the outcome by the same callback, in the order in which they
came, but partitions first.

While one commit is under way the next one gathers. When it fails, what gathered behind it fails
too: those batches have offsets that continue batches which are not there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from application.metrics.families.durations import Numbers
from application.ports.commit import Commit
from application.ports.partition_repository import PartitionRepository
from application.ports.scheduler import Scheduler
from application.state.fetch_purgatory import FetchPurgatory
from application.state.notifying import notify_each
from application.state.runtime import Done
from application.state.storage_health import StorageHealth
from domain.errors import StorageFailed
from domain.partitions.log_end import LogEnd
from domain.partitions.partition import SNAPSHOT_INTERVAL_BYTES, Partition


class Commits:
    def __init__(
        self,
        commit: Commit,
        scheduler: Scheduler,
        partitions: PartitionRepository,
        purgatory: FetchPurgatory,
        storage_health: StorageHealth,
    ) -> None:
        self._commit = commit
        self._scheduler = scheduler
        self._partitions = partitions
        self._purgatory = purgatory
        self.storage_health = storage_health
        self._touched: dict[Partition, None] = {}
        self._waiters: list[Done] = []
        #: Those of the commit that is under way.
        self._in_commit: list[Done] = []
        #: Partitions with new records, or a new log start, since the last commit.
        self._advanced: list[Partition] = []
        self._asked_for_pass = False
        self._under_way = False
        #: Whether rows are staged for the next commit; whether the one under way keeps anything.
        self._rows_staged = False
        self._keeps = False
        self._afterwards: list[Callable[[], None]] = []
        #: How many waited for each commit.
        self.waiters = Numbers()

    def after_each(self, call: Callable[[], None]) -> None:
        """Makes this call at the end of every commit, when all who waited for it have been told."""
        self._afterwards.append(call)

    def touch(self, partition: Partition) -> None:
        """A batch of this partition was staged; it is committed whether or not anybody waits."""
        self._touched[partition] = None
        if not self._asked_for_pass:
            self._ask()

    def wait(self, then: Done) -> None:
        """Calls back when all that is staged by now is durable, or lost."""
        self._waiters.append(then)
        if not self._asked_for_pass:
            self._ask()

    def when_committed(self, then: Done) -> None:
        """`wait`, for a caller that has rows of its own in that commit."""
        self._rows_staged = True
        self.wait(then)

    def _ask(self) -> None:
        if not self._asked_for_pass and not self._under_way:
            self._asked_for_pass = True
            self._scheduler.soon(self._begin)

    def _begin(self) -> None:
        self._asked_for_pass = False
        self._under_way = True
        waiters, self._waiters = self._waiters, []
        self.waiters.add(len(waiters))
        touched, self._touched = self._touched, {}
        self._keeps = self._rows_staged or bool(touched)
        self._rows_staged = False
        for partition in touched:
            if partition.bytes_since_snapshot >= SNAPSHOT_INTERVAL_BYTES:
                self._partitions.snapshot(partition)
        self._in_commit = [partial(self._ended, one, one.end.copy()) for one in touched]
        self._in_commit += waiters
        self._commit.commit(self._done)

    def _done(self, failure: StorageFailed | None) -> None:
        self._under_way = False
        in_commit, self._in_commit = self._in_commit, []
        if failure is not None:
            self.storage_health.failed(failure)
            touched, self._touched = self._touched, {}
            behind, self._waiters = self._waiters, []
            self._rows_staged = False
            # First: a callback may append again at once.
            in_commit = [partial(self._ended, one, one.durable) for one in touched] + in_commit
            in_commit += behind
        # A full disk takes a commit that has nothing in it.
        elif self._keeps:
            self.storage_health.succeeded()
        faults: list[Exception] = []
        for then in in_commit:  # every request comes this way: without another call around each
            try:
                then(failure)
            except Exception as fault:
                faults.append(fault)
        advanced, self._advanced = self._advanced, []
        faults += notify_each(advanced, self._purgatory.advanced)
        if self._waiters or self._touched:
            self._ask()
        for call in self._afterwards:
            call()
        if faults:
            raise faults[0]

    def _ended(self, partition: Partition, end: LogEnd, failure: StorageFailed | None) -> None:
        if failure is not None:
            # Rebuilt when it is next used: a full disk fails a thousand at once.
            partition.broken = failure.as_value()
        elif partition.committed(end):
            self._advanced.append(partition)
