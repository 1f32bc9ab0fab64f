"""Commits: the group commit, one transaction for all changes of one pass of the loop.

    append -> touch, wait; save row -> when_committed -> (end of the pass) begin -> Commit.commit
      durable:  high watermarks rise, decisions and responses continue, delayed fetches are repeated
      failed:   every partition that was appended to since the last successful commit is reloaded
                at its next use, and all waiting callbacks get StorageFailed; no change was visible

Partitions get the outcome first, then decisions and responses, in order.

A commit in a database may take long. What is staged meanwhile is bounded (`room`), begins the next
commit at once if it is worth it, and may stop waiting for it (`forget`).

Changes during a commit belong to the next one. If a commit fails, they fail too: their offsets
follow batches that were not persisted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from application.metrics.families.durations import Numbers
from application.ports.commit import Commit
from application.ports.partition_repository import PartitionRepository
from application.ports.pending import Pending
from application.ports.scheduler import Scheduler
from application.state.fetch_purgatory import FetchPurgatory
from application.state.notifying import notify_each
from application.state.runtime import Done
from application.state.storage_health import StorageHealth
from domain.errors import StorageFailed
from domain.partitions.log_end import LogEnd
from domain.partitions.partition import SNAPSHOT_INTERVAL_BYTES, Partition

#: Of batches for the next commit, beyond which produce requests wait until it begins: the one
#: before may take as long as a database is away.
MOST_STAGED_BYTES = 64 << 20
#: Staged while a commit was under way: the next one begins before the responses of that one are
#: sent. With less it waits for the requests that clients send then: a commit has a price, too.
BYTES_WORTH_A_COMMIT = 100_000
#: Of one that waits for its commit, besides its batches.
REQUEST_BYTES = 2000


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
        #: For the next commit: batches, and what waits for it.
        self.staged_bytes = 0
        self._wait_for_room: list[Pending[None]] = []
        self._waiters: list[Done] = []
        #: Callbacks of the commit in flight.
        self._in_commit: list[Done] = []
        #: Partitions with new records, or a new log start, since the last commit.
        self._advanced: list[Partition] = []
        self._is_scheduled = False
        self._under_way = False
        #: Within `Commit.commit`: a store that commits on the loop calls back in it.
        self._is_beginning = False
        #: Whether rows are staged for the next commit; whether the one in flight has changes.
        self._rows_staged = False
        self._keeps = False
        self._afterwards: list[Callable[[], None]] = []
        #: Callbacks per commit, as a histogram.
        self.waiters = Numbers()

    @property
    def is_idle(self) -> bool:
        """Nothing is staged, and no commit is in flight."""
        return not (self._is_scheduled or self._under_way)

    def after_each(self, call: Callable[[], None]) -> None:
        """Calls back at the end of every commit, after all callbacks that waited for it."""
        self._afterwards.append(call)

    def touch(self, partition: Partition, batch_bytes: int = 0) -> None:
        """Records that a batch or a log start of this partition is staged."""
        self._touched[partition] = None
        self.staged_bytes += batch_bytes
        if not self._is_scheduled:
            self._schedule()

    def wait(self, then: Done) -> None:
        """Calls back when all changes staged by now are durable, or lost."""
        self._waiters.append(then)
        self.staged_bytes += REQUEST_BYTES
        if not self._is_scheduled:
            self._schedule()

    def room(self) -> Pending[None]:
        """Resolved when what is staged now is in a commit, or lost."""
        pending: Pending[None] = Pending()
        self._wait_for_room.append(pending)
        return pending

    def _make_room(self) -> None:
        self.staged_bytes = 0
        waiting, self._wait_for_room = self._wait_for_room, []
        for pending in waiting:
            self._scheduler.soon(partial(pending.resolve, None))

    def when_committed(self, then: Done) -> None:
        """Like `wait`, for a caller that has staged rows."""
        self._rows_staged = True
        self.wait(then)

    def forget(self, is_over: Callable[[Done], bool]) -> None:
        """Drops callbacks that wait no more; the commit goes on."""
        self._in_commit = [then for then in self._in_commit if not is_over(then)]
        self._waiters = [then for then in self._waiters if not is_over(then)]

    def _schedule(self) -> None:
        if not self._is_scheduled and not self._under_way:
            self._is_scheduled = True
            self._scheduler.soon(self._begin)

    def _begin(self) -> None:
        self._is_scheduled = False
        self._under_way = True
        self._make_room()
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
        self._is_beginning = True
        self._commit.commit(self._done)
        self._is_beginning = False

    def _done(self, failure: StorageFailed | None) -> None:
        in_commit, self._in_commit = self._in_commit, []
        if failure is not None:
            self.storage_health.failed(failure)
            touched, self._touched = self._touched, {}
            behind, self._waiters = self._waiters, []
            self._rows_staged = False
            self._make_room()
            # Partitions first: a callback may append again at once.
            in_commit = [partial(self._ended, one, one.durable) for one in touched] + in_commit
            in_commit += behind
        # With a full disk an empty commit still succeeds.
        elif self._keeps:
            self.storage_health.succeeded()
        faults: list[Exception] = []
        for then in in_commit:  # hot path: no other call around each
            try:
                then(failure)
            except Exception as fault:
                faults.append(fault)
        advanced, self._advanced = self._advanced, []
        faults += notify_each(advanced, self._purgatory.advanced)
        self._under_way = False
        if self._waiters or self._touched:
            if self.staged_bytes < BYTES_WORTH_A_COMMIT or self._is_beginning:
                self._schedule()
            else:
                self._begin()
        for call in self._afterwards:
            call()
        if faults:
            raise faults[0]

    def _ended(self, partition: Partition, end: LogEnd, failure: StorageFailed | None) -> None:
        if failure is not None:
            # Reloaded at its next use: a full disk may fail a thousand at once.
            partition.broken = failure.as_value()
        elif partition.committed(end):
            self._advanced.append(partition)
