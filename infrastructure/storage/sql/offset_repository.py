"""Committed offsets in an SQL database: one thread waits for it, so that the loop never does.

    apply -> queue -> thread: all that waits, up to a hundred rows, in one transaction -> done

    apply_with_log -> a row in the store's outbox, with a rising number -> the log's commit -> queue

Offsets from the outbox are written with their number (`applied_through`), in one transaction, and
again until that succeeds; then their rows go. After a crash those with larger numbers are written
first. Whatever was applied later waits behind them, so the order is the same after a restart.

SQLAlchemy is imported in that thread too, which keeps the start fast. A commit survives what the
database's own commits survive: SQLite runs in WAL mode, with `synchronous=FULL` where
`flush=commit` (NORMAL elsewhere: a power cut may take the newest); PostgreSQL with its own
`synchronous_commit` where `flush=commit`, and without elsewhere.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from operator import itemgetter
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from application.ports.offset_repository import OffsetRow, OffsetWrite
from application.state.notifying import notify_each
from application.state.runtime import ignore
from domain.errors import StorageFailed
from domain.groups.offsets import CommittedOffset
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.offsets_home import OffsetsContext

if TYPE_CHECKING:
    from infrastructure.storage.sql.offset_database import OffsetDatabase

#: In one transaction; a commit of one client is never split.
ROWS_PER_TRANSACTION = 100
RETRY_S = 1.0
LONGEST_RETRY_S = 30.0
#: How long a stop waits for the database.
CLOSING_S = 15.0
#: How often the thread, waiting for the loop, checks for the stop.
LOOK_S = 0.1
#: A longer transaction is logged.
SLOW_S = 5.0
#: Limit of waiting rows: clients that time out send the same commit again.
ROWS_WAITING_MAX = 100_000

Done = Callable[[StorageFailed | None], None]


class Waiting(NamedTuple):
    writes: Sequence[OffsetWrite]
    done: Done
    #: In the outbox.
    number: int | None = None


class SqlOffsetRepository:
    leaves_doubt = True

    def __init__(self, url: str, context: OffsetsContext) -> None:
        home, self._store_id, self._flush, self._to_loop, self._unusable, self._events = context
        self._home = home
        #: Rows to move into the database.
        self._moving = home.rows() if home.known is None else []
        self._url = url
        self._queue: SimpleQueue[Waiting | None] = SimpleQueue()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        #: The number of the newest offsets in the outbox.
        self._number = 0
        #: Waits for the log's commit of the first one, or behind it.
        self._undecided: deque[Waiting] = deque()
        #: From the outbox, not written yet; used by the thread.
        self._unapplied = _waiting(home.outbox.load())
        self._rows_waiting = sum(len(one.writes) for one in self._unapplied)
        #: Start of the running transaction; written by the thread.
        self._since_s: float | None = None
        self._logged_since_s: float | None = None
        #: Errors that were logged since the last success; used by the thread.
        self._logged: set[str] = set()

    # ---- the loop's side

    def load(self, take: Callable[[Sequence[OffsetRow]], None], done: Callable[[], None]) -> None:
        self._thread = threading.Thread(
            target=self._run, args=(take, done), name="ottla-offsets", daemon=True
        )
        try:
            self._thread.start()
        except RuntimeError as error:  # the system has no further thread
            self._thread = None
            raise StorageFailed(f"Committed offsets cannot be read: {error}") from error

    def load_groups(self, includes: Callable[[str], bool]) -> Iterable[OffsetRow]:
        """Only this broker writes them."""
        return ()

    def apply(self, writes: Sequence[OffsetWrite], done: Done) -> None:
        self._check_duration()
        if self._rows_waiting and self._rows_waiting + len(writes) > ROWS_WAITING_MAX:
            failure = StorageFailed("Committed offsets cannot be stored: too many wait already")
            self._to_loop(partial(done, failure))
            return
        self._rows_waiting += len(writes)
        waiting = Waiting(writes, done)
        if self._undecided:
            self._undecided.append(waiting)
        else:
            self._queue.put(waiting)

    def apply_with_log(self, writes: Sequence[OffsetWrite], done: Done) -> None:
        self._number += 1
        self._home.outbox.save(self._number, writes)
        self._rows_waiting += len(writes)
        self._undecided.append(Waiting(writes, done, self._number))
        self._home.when_committed(self._decided)

    def _decided(self, failure: StorageFailed | None) -> None:
        """By the log's commit, in order."""
        decided = self._undecided.popleft()
        if failure is None:
            self._queue.put(decided)
        while self._undecided and self._undecided[0].number is None:
            self._queue.put(self._undecided.popleft())
        if failure is not None:
            self._rows_waiting -= len(decided.writes)
            decided.done(failure)

    def _check_duration(self) -> None:
        """The thread is blocked itself, so the next commit checks for it."""
        since_s = self._since_s
        if since_s is None or since_s == self._logged_since_s:
            return
        waited_s = time.monotonic() - since_s
        if waited_s >= SLOW_S:
            self._logged_since_s = since_s
            self._events.warning("offsets_database_slow", waited_seconds=round(waited_s, 1))

    def close(self) -> None:
        self._closing.set()
        self._queue.put(None)
        if self._thread is None:
            return
        self._thread.join(CLOSING_S)
        if self._thread.is_alive():
            self._events.error("offsets_database_close_timed_out", waited_seconds=CLOSING_S)

    # ---- the thread's side

    def _run(self, take: Callable[[Sequence[OffsetRow]], None], done: Callable[[], None]) -> None:
        try:
            from infrastructure.storage.sql.offset_database import OffsetDatabase

            database = OffsetDatabase(self._url, self._store_id, self._flush)
            if self._open(database) and self._empty_outbox(database) and self._read(database, take):
                self._on_loop(done)
                self._write_all(database)
            database.disconnect()
        except StorageUnusable as failure:
            self._give_up(failure)
        except Exception as fault:
            self._log_error(fault)
            self._give_up(StorageUnusable(f"{type(fault).__name__}: {fault}"))

    def _give_up(self, failure: StorageUnusable) -> None:
        self._on_loop(lambda: self._unusable(failure))

    def _open(self, database: OffsetDatabase) -> bool:
        """Until it is open and has the moved rows; False: the broker stops before."""
        known = self._home.known
        if not self._retried(lambda: database.open(known)):
            return False
        if known is None and not (
            self._retried(lambda: database.take_over(self._moving)) and self._confirm_move(database)
        ):
            return False
        self._moving = []
        return self._retried(database.handed_over)

    def _confirm_move(self, database: OffsetDatabase) -> bool:
        """Waits until the store knows it, too."""
        outcome: SimpleQueue[StorageFailed | None] = SimpleQueue()
        there = database.database
        assert there is not None
        self._on_loop(lambda: self._home.moved(there, outcome.put))
        while not self._closing.is_set():
            with suppress(Empty):
                failure = outcome.get(timeout=LOOK_S)
                if failure is not None:
                    raise StorageUnusable(failure.message)
                return True
        return False

    def _empty_outbox(self, database: OffsetDatabase) -> bool:
        found, self._unapplied = self._unapplied, []

        def apply() -> None:
            self._number = database.applied_through()
            later = [one for one in found if (one.number or 0) > self._number]
            if later:
                self._number = later[-1].number or 0
                database.write(_changes(later), self._number)

        if not self._retried(apply):
            return False
        self._on_loop(partial(self._respond_to_all, found, None))
        return True

    def _read(self, database: OffsetDatabase, take: Callable[[Sequence[OffsetRow]], None]) -> bool:
        """After a failure all rows are read again."""

        offsets = 0

        def read() -> None:
            nonlocal offsets
            offsets = 0
            for rows in database.rows():
                offsets += len(rows)
                self._on_loop(partial(take, rows))

        since_s = time.monotonic()
        self._on_loop(lambda: self._events.info("offsets_loading"))
        if not self._retried(read):
            return False
        took_s = round(time.monotonic() - since_s, 1)
        self._on_loop(lambda: self._events.info("offsets_loaded", offsets=offsets, seconds=took_s))
        return True

    def _retried(self, call: Callable[[], None]) -> bool:
        delay_s = RETRY_S
        while not self._closing.is_set():
            try:
                call()
            except StorageFailed as failure:
                self._log_failure(failure)
                self._closing.wait(delay_s)
                delay_s = min(2 * delay_s, LONGEST_RETRY_S)
            else:
                return True
        return False

    def _write_all(self, database: OffsetDatabase) -> None:
        going_on = True
        while going_on:
            waiting, going_on = self._gather()
            waiting = self._unapplied + waiting
            if not waiting:
                return
            self._since_s = time.monotonic()
            failure = self._write(database, waiting)
            self._since_s = None
            self._unapplied = []
            if failure is not None:
                self._unapplied = [one for one in waiting if one.number is not None]
                waiting = [one for one in waiting if one.number is None]
            self._on_loop(partial(self._respond_to_all, waiting, failure))

    def _respond_to_all(self, waiting: list[Waiting], failure: StorageFailed | None) -> None:
        """Rows of the outbox go with the log's next commit."""
        for one in waiting:
            self._rows_waiting -= len(one.writes)
            if one.number is not None:
                self._home.outbox.save(one.number, [(*write[:3], None) for write in one.writes])
        faults = notify_each((one.done for one in waiting), lambda done: done(failure))
        if faults:
            raise faults[0]

    def _gather(self) -> tuple[list[Waiting], bool]:
        """Waiting commits for one transaction; and False if the broker stops after them."""
        waiting: list[Waiting] = []
        rows = 0
        timeout_s = RETRY_S if self._unapplied else None
        while rows < ROWS_PER_TRANSACTION:
            try:
                following = self._queue.get(timeout=timeout_s)
            except Empty:
                break
            if following is None:
                return waiting, False
            waiting.append(following)
            rows += len(following.writes)
            timeout_s = 0
        return waiting, True

    def _write(self, database: OffsetDatabase, waiting: list[Waiting]) -> StorageFailed | None:
        changes = _changes(waiting)
        if not changes:
            return None
        numbers = [one.number for one in waiting if one.number is not None]
        try:
            database.write(changes, numbers[-1] if numbers else None)
        except StorageFailed as failure:
            self._log_failure(failure)
            return failure.as_value()
        except StorageUnusable as unusable:
            self._give_up(unusable)
            return StorageFailed(f"Committed offsets cannot be stored: {unusable}")
        except Exception as fault:
            self._log_error(fault)
            return StorageFailed(f"Committed offsets cannot be stored: {type(fault).__name__}")
        if self._logged:
            self._logged.clear()
            self._on_loop(lambda: self._events.info("offsets_database_recovered"))
        return None

    def _log_failure(self, failure: StorageFailed) -> None:
        """Each error once, until the next success."""
        reason = failure.message
        if reason not in self._logged:
            self._logged.add(reason)
            self._log_error(reason)

    def _log_error(self, error: Exception | str) -> None:
        self._on_loop(lambda: self._events.error("offsets_database_failed", error=error))

    def _on_loop(self, call: Callable[[], None]) -> None:
        try:
            self._to_loop(call)
        except RuntimeError:
            pass  # the loop is closed


def _waiting(outbox: Iterable[tuple[int, OffsetRow]]) -> list[Waiting]:
    """The offsets of each transaction, by their numbers."""
    return [
        Waiting([row for _, row in rows], ignore, number)
        for number, rows in groupby(outbox, itemgetter(0))
    ]


def _changes(waiting: Iterable[Waiting]) -> dict[tuple[str, str, int], CommittedOffset | None]:
    """The last of each partition."""
    return {write[:3]: write[3] for one in waiting for write in one.writes}
