"""StorageHealth: logs why the store fails, and when it works again.

Clients get an error code and retry; only the operator can make room on the disk. Each reason is
logged once, not with every commit or read, until a commit succeeds.
"""

from __future__ import annotations

from application.ports.clock import Clock
from application.ports.event_log import EventLog
from domain.errors import StorageFailed
from domain.partitions.partition import Partition

#: A partition that cannot be read is logged again after this time.
REPEAT_MS = 60_000
#: Partitions that are remembered as logged; with more of them some are logged more often.
REMEMBERED = 1000


class StorageHealth:
    def __init__(self, events: EventLog, clock: Clock) -> None:
        self._events = events
        self._clock = clock
        self._logged: dict[str, None] = {}
        self._commits = 0
        self._unreadable: dict[int, int] = {}

    def failed(self, failure: StorageFailed) -> None:
        self._commits += 1
        if failure.message not in self._logged:
            self._logged[failure.message] = None
            self._events.error("storage_failed", error=failure.message)

    def succeeded(self) -> None:
        """Called after every commit that persisted something: the usual case must cost nothing."""
        if self._commits:
            self._events.info("storage_recovered", failed_commits=self._commits)
            self._commits = 0
            self._logged.clear()

    def reason(self) -> str | None:
        """Why the last commit failed, or None."""
        return next(reversed(self._logged), None)

    def unreadable(self, partition: Partition, failure: StorageFailed) -> None:
        now_ms = self._clock.monotonic_ms()
        logged_ms = self._unreadable.get(partition.partition_id)
        if logged_ms is not None and now_ms - logged_ms < REPEAT_MS:
            return
        if len(self._unreadable) == REMEMBERED:
            self._unreadable.clear()
        self._unreadable[partition.partition_id] = now_ms
        self._events.error(
            "partition_unreadable",
            topic=partition.topic,
            partition=partition.index,
            error=failure.message,
        )
