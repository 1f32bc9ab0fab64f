"""StorageHealth: logs why the store fails, and when it works again.

Clients get an error code and retry; only the operator can make room on the disk. Each reason is
logged once, not with every commit or read, until a commit succeeds. On a full disk deletions still
succeed while records are refused, until there is room for records, too (`admits`). Retention may
make room again and again, which records fill at once: such failures are one for the log.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from application.ports.clock import Clock
from application.ports.event_log import EventLog
from application.ports.reserve import Reserve
from domain.errors import BrokerError, PolicyViolation, StorageFailed

#: A partition that cannot be read is logged again after this time; so is a recovery, if there was
#: no failure meanwhile.
REPEAT_MS = 60_000
#: Partitions that are remembered as logged; with more of them some are logged more often.
REMEMBERED = 1000
#: After a commit that failed on a full disk records are refused so long: a commit that they fail
#: again fails the deletions in it, too.
REFUSED_MS = 1000
READ_ONLY = "The broker serves its store read-only: it accepts no records"
NO_ROOM = "The store accepts no records: the disk is full, or reported an input/output error"


class StorageHealth:
    def __init__(self, events: EventLog, clock: Clock, reserve: Reserve | None = None) -> None:
        self._events = events
        self._clock = clock
        self._reserve = reserve
        self._refused_until_ms = 0
        #: Called when the disk is full.
        self.when_full: Callable[[], None] = lambda: None
        self._logged: set[str] = set()
        self._reason: str | None = None
        #: Why a commit is not done yet.
        self._waits_for: str | None = None
        self._not_sealed: str | None = None
        self._not_dropped: frozenset[str] = frozenset()
        self._repeated = 0
        #: Of each acknowledged record.
        self._copies: int | None = None
        self._has_too_few_copies = False
        #: Failed ones, until a recovery is logged.
        self._commits = 0
        self._recovery_logged_from_ms = 0
        self._unreadable: dict[tuple[str, int], int] = {}
        if self.is_full and not self.is_read_only:  # before the start
            self.failed(StorageFailed(NO_ROOM))

    @property
    def is_full(self) -> bool:
        return self._reserve is not None and self._reserve.is_released

    @property
    def is_read_only(self) -> bool:
        return self._reserve is not None and self._reserve.is_read_only

    def refusal(self) -> BrokerError:
        """Of records that are not admitted."""
        return PolicyViolation(READ_ONLY) if self.is_read_only else StorageFailed(NO_ROOM)

    def admits(self, size_bytes: int) -> bool:
        """Whether records may be appended; always, unless the disk is full."""
        if self._reserve is None:
            return True
        if self._clock.monotonic_ms() < self._refused_until_ms:
            return False
        return self._reserve.admits(size_bytes)

    def failed(self, failure: StorageFailed) -> None:
        self._commits += 1
        self._reason = failure.message
        if failure.message not in self._logged:
            self._logged.add(failure.message)
            self._events.error("storage_failed", error=failure.message)
        now_ms = self._clock.monotonic_ms()
        if now_ms < self._recovery_logged_from_ms:
            self._recovery_logged_from_ms = now_ms + REPEAT_MS
        if self.is_full:
            self._refused_until_ms = now_ms + REFUSED_MS
            self.when_full()

    def succeeded(self) -> None:
        """Called after every commit that persisted something: the usual case must cost nothing."""
        if self._commits and self.admits(0):
            self._reason = None
            now_ms = self._clock.monotonic_ms()
            if now_ms >= self._recovery_logged_from_ms:
                self._recovery_logged_from_ms = now_ms + REPEAT_MS
                self._events.info("storage_recovered", failed_commits=self._commits)
                self._commits = 0
                self._logged.clear()

    def waits(self, reason: str | None) -> None:
        """To be called now and then: why a commit takes long, or None."""
        if reason is not None and self._waits_for is None:
            self._events.warning("storage_waits", reason=reason)
        elif reason is None and self._waits_for is not None:
            if self._reason is not None:
                return  # it has failed, and so may the next one
            self._events.info("storage_goes_on")
        self._waits_for = reason

    def repeated(self, commits: int) -> None:
        """To be called now and then: how many were repeated since the start."""
        if commits > self._repeated:
            self._events.warning("commits_repeated", commits=commits - self._repeated)
        self._repeated = commits

    def not_sealed(self, reason: str | None) -> None:
        """To be called now and then: why records cannot become objects, or None."""
        if reason is not None and reason != self._not_sealed:
            self._events.warning("objects_wait", reason=reason)
        elif reason is None and self._not_sealed is not None:
            self._events.info("objects_go_on")
        self._not_sealed = reason

    def not_dropped(self, reasons: Collection[str]) -> None:
        """To be called now and then: why tables that nothing needs cannot be dropped."""
        for reason in reasons:
            if reason not in self._not_dropped:
                self._events.warning("table_not_dropped", reason=reason)
        self._not_dropped = frozenset(reasons)

    def counted(self, copies: int, required: int = 1) -> None:
        """To be called now and then: the copies of each acknowledged record, and how many acks=all
        requires by default.
        """
        before, self._copies = self._copies, copies
        if before is not None and copies < before:
            self._events.warning("store_copies_changed", copies=copies, before=before)
        elif before is not None and copies > before:
            self._events.info("store_copies_changed", copies=copies, before=before)
        has_too_few = copies < required
        if has_too_few and not self._has_too_few_copies:
            self._events.warning(
                "store_copies_too_few", copies=copies, min_insync_replicas=required
            )
        self._has_too_few_copies = has_too_few

    def reason(self) -> str | None:
        """Why the last commit failed, or is not done yet, or None."""
        if self.is_full:
            self.succeeded()  # there may be room again, but no client that appends
        return self._reason or self._waits_for

    def unreadable(self, topic: str, index: int, failure: StorageFailed) -> None:
        now_ms = self._clock.monotonic_ms()
        logged_ms = self._unreadable.get((topic, index))
        if logged_ms is not None and now_ms - logged_ms < REPEAT_MS:
            return
        if len(self._unreadable) == REMEMBERED:
            self._unreadable.clear()
        self._unreadable[topic, index] = now_ms
        self._events.error(
            "partition_unreadable", topic=topic, partition=index, error=failure.message
        )
