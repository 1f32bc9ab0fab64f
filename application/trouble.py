"""Trouble: says in the log why the store refuses what it is given, and when it no longer does.

Clients get a number, and retry; whoever runs the broker is the one who can make room on the disk.
A reason is told once, not with every commit, until the store works again.
"""

from __future__ import annotations

from application.ports.event_log import EventLog
from domain.errors import StorageFailed


class Trouble:
    def __init__(self, events: EventLog) -> None:
        self._events = events
        self._told: set[str] = set()
        self._commits = 0

    def failed(self, failure: StorageFailed) -> None:
        self._commits += 1
        if failure.message not in self._told:
            self._told.add(failure.message)
            self._events.error("nothing can be stored", reason=failure.message)

    def succeeded(self) -> None:
        """Called after every commit that went well, so the usual case must cost nothing."""
        if self._commits:
            self._events.info("data is stored again", failed_commits=self._commits)
            self._commits = 0
            self._told.clear()
