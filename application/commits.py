"""Commits: THE group commit. One transaction for all that arrived in one pass of the loop.

    append / save row -> touch, wait -> (end of the pass) begin -> Commit.commit -> done
      done well:  watermarks rise, waiting requests are answered, waiting fetches look again
      done badly: every partition touched since the last good commit is to be rebuilt from the
                  store, and whoever waited is told; nothing of it was ever visible

While one commit is under way the next one gathers. When it fails, what gathered behind it fails
too: those batches have offsets that continue batches which are not there.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from typing import Protocol

from application.metrics.durations import Numbers
from application.ports.commit import Commit
from application.ports.partition_repository import PartitionRepository
from application.ports.scheduler import Scheduler
from application.telling import tell_each
from application.trouble import Trouble
from application.watching import Watching
from domain.errors import StorageFailed
from domain.partitions.partition import SNAPSHOT_INTERVAL_BYTES, LogEnd, Partition


class CommitWaiter(Protocol):
    def committed(self, failure: StorageFailed | None) -> None: ...


class Commits:
    def __init__(
        self,
        commit: Commit,
        scheduler: Scheduler,
        partitions: PartitionRepository,
        watching: Watching,
        trouble: Trouble,
    ) -> None:
        self._commit = commit
        self._scheduler = scheduler
        self._partitions = partitions
        self._watching = watching
        self.trouble = trouble
        self._touched: dict[Partition, None] = {}
        self._waiters: list[CommitWaiter] = []
        self._ends: list[tuple[Partition, LogEnd]] = []
        self._answering: list[CommitWaiter] = []
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

    def wait(self, waiter: CommitWaiter) -> None:
        """Tells `waiter` how the commit of all that is staged by now went."""
        self._waiters.append(waiter)
        if not self._asked_for_pass:
            self._ask()

    def when_committed(
        self, then: Callable[[StorageFailed | None], None], staged: bool = True
    ) -> None:
        """Like `wait`; `staged`: the caller has rows in that commit, and is not only waiting."""
        if staged:
            self._rows_staged = True
        self.wait(_CallbackWaiter(then))

    def _ask(self) -> None:
        if not self._asked_for_pass and not self._under_way:
            self._asked_for_pass = True
            self._scheduler.soon(self._begin)

    def _begin(self) -> None:
        self._asked_for_pass = False
        self._under_way = True
        self._answering, self._waiters = self._waiters, []
        self.waiters.add(len(self._answering))
        touched, self._touched = self._touched, {}
        self._keeps = self._rows_staged or bool(touched)
        self._rows_staged = False
        for partition in touched:
            if partition.bytes_since_snapshot >= SNAPSHOT_INTERVAL_BYTES:
                self._partitions.snapshot(partition)
        self._ends = [(partition, partition.end()) for partition in touched]
        self._commit.commit(self._done)

    def _done(self, failure: StorageFailed | None) -> None:
        self._under_way = False
        answering, self._answering = self._answering, []
        ends, self._ends = self._ends, []
        news: list[Partition] = []
        if failure is not None:
            self.trouble.failed(failure)
            answering += self._waiters
            self._waiters = []
            self._rows_staged = False
            self._doubt([partition for partition, _ in ends], failure)
        else:
            # A full disk takes a commit that has nothing in it.
            if self._keeps:
                self.trouble.succeeded()
            news = [partition for partition, end in ends if partition.committed(end)]
        faults = tell_each(answering, methodcaller("committed", failure))
        faults += tell_each(news, self._watching.advanced)
        if self._waiters or self._touched:
            self._ask()
        for call in self._afterwards:
            call()
        if faults:
            raise faults[0]

    def _doubt(self, partitions: list[Partition], failure: StorageFailed) -> None:
        """Each is rebuilt when it is next used: a disk that is full fails a thousand at once."""
        doubtful = dict.fromkeys(partitions) | self._touched
        self._touched = {}
        kept = failure.as_value()
        for partition in doubtful:
            partition.broken = kept


class _CallbackWaiter:
    __slots__ = ("committed",)

    def __init__(self, committed: Callable[[StorageFailed | None], None]) -> None:
        self.committed = committed
