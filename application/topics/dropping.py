"""Dropping: what a deleted topic leaves in the store is removed a slice at a time.

One slice, one commit, then a pause for everybody else. A restart goes on where this one stopped:
the partitions stand in the store as doomed until nothing of them is left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from application.commits import Commits
from application.ports.log_store import LogStore
from application.ports.partition_repository import PartitionRepository
from application.ports.topic_repository import TopicRepository
from application.upkeep.spare_time import SpareTime
from domain.errors import StorageFailed

BATCHES_PER_SLICE = 256
PRODUCERS_PER_SLICE = 1000
PAUSE_MS = 2
RETRY_MS = 1000
LONGEST_RETRY_MS = 60_000


class Dropping:
    def __init__(
        self,
        log: LogStore,
        topics: TopicRepository,
        partitions: PartitionRepository,
        commits: Commits,
        spare_time: SpareTime,
    ) -> None:
        self._log = log
        self._topics = topics
        self._partitions = partitions
        self._commits = commits
        self._spare_time = spare_time
        self._doomed: deque[int] = deque()
        self._busy = False
        self._failures = 0

    def __len__(self) -> int:
        return len(self._doomed)

    def start(self) -> None:
        """At start-up: what the last run did not finish."""
        self.begin(self._topics.doomed_partitions())

    def begin(self, partition_ids: Iterable[int]) -> None:
        self._doomed.extend(partition_ids)
        self._next_after(PAUSE_MS)

    def _next_after(self, delay_ms: int) -> None:
        if self._doomed and not self._busy:
            self._busy = True
            self._spare_time.after_ms(delay_ms, self._drop_slice)

    def _drop_slice(self) -> None:
        partition_id = self._doomed[0]
        try:
            empty = self._log.drop(partition_id, BATCHES_PER_SLICE)
            empty = empty and self._partitions.forget(partition_id, PRODUCERS_PER_SLICE)
        except StorageFailed as unreadable:
            self._done(unreadable, empty=False)
            return
        if empty:
            self._topics.dropped(partition_id)
        self._commits.when_committed(lambda failure: self._done(failure, empty))

    def _done(self, failure: StorageFailed | None, empty: bool) -> None:
        """A slice that fails takes all of its pass along, so it comes back less and less often."""
        self._busy = False
        if failure is None:
            self._failures = 0
            if empty:
                self._doomed.popleft()
            self._next_after(PAUSE_MS)
            return
        delay_ms = min(RETRY_MS << self._failures, LONGEST_RETRY_MS)
        self._failures = min(self._failures + 1, 10)
        self._doomed.rotate(-1)
        self._next_after(delay_ms)
