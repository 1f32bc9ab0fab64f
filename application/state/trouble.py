"""Trouble: says in the log why the store refuses what it is given or asked for, and when no longer.

Clients get a number, and retry; whoever runs the broker is the one who can make room on the disk.
A reason is told once, not with every commit or read, until the store works again.
"""

from __future__ import annotations

from application.ports.clock import Clock
from application.ports.event_log import EventLog
from domain.errors import StorageFailed
from domain.partitions.partition import Partition

#: A partition that cannot be read is named again after so long.
REPEAT_MS = 60_000
#: So many are remembered; with more of them, some are named more often.
REMEMBERED = 1000


class Trouble:
    def __init__(self, events: EventLog, clock: Clock) -> None:
        self._events = events
        self._clock = clock
        self._told: dict[str, None] = {}
        self._commits = 0
        self._unreadable: dict[int, int] = {}

    def failed(self, failure: StorageFailed) -> None:
        self._commits += 1
        if failure.message not in self._told:
            self._told[failure.message] = None
            self._events.error("storage_failed", error=failure.message)

    def succeeded(self) -> None:
        """Called after every commit that kept something, so the usual case must cost nothing."""
        if self._commits:
            self._events.info("storage_recovered", failed_commits=self._commits)
            self._commits = 0
            self._told.clear()

    def reason(self) -> str | None:
        """Why nothing could be stored when it was last tried; None: it could."""
        return next(reversed(self._told), None)

    def unreadable(self, partition: Partition, failure: StorageFailed) -> None:
        now_ms = self._clock.monotonic_ms()
        told_ms = self._unreadable.get(partition.partition_id)
        if told_ms is not None and now_ms - told_ms < REPEAT_MS:
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
