"""Committed offsets in an SQL database: one thread waits for it, so that the loop never does.

    apply -> queue -> thread: all that waits, up to a hundred rows, in one transaction -> done

SQLAlchemy is imported in that thread too, which keeps the start fast. A commit survives what the
database's own commits survive: SQLite runs in WAL mode, with `synchronous=FULL` where
`flush=commit` (NORMAL elsewhere: a power cut may take the newest); PostgreSQL with its own
`synchronous_commit` where `flush=commit`, and without elsewhere.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from application.ports.offset_repository import OffsetRow, OffsetWrite
from application.state.notifying import notify_each
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
Waiting = tuple[Sequence[OffsetWrite], Done]


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
        self._rows_waiting = 0
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

    def apply(self, writes: Sequence[OffsetWrite], done: Done) -> None:
        self._check_duration()
        if self._rows_waiting and self._rows_waiting + len(writes) > ROWS_WAITING_MAX:
            failure = StorageFailed("Committed offsets cannot be stored: too many wait already")
            self._to_loop(partial(done, failure))
            return
        self._rows_waiting += len(writes)
        self._queue.put((writes, done))

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
            if self._open(database) and self._read(database, take):
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
            first = self._queue.get()
            if first is None:
                return
            waiting, going_on = self._gather(first)
            self._since_s = time.monotonic()
            failure = self._write(database, waiting)
            self._since_s = None
            self._on_loop(partial(self._respond_to_all, waiting, failure))

    def _respond_to_all(self, waiting: list[Waiting], failure: StorageFailed | None) -> None:
        self._rows_waiting -= sum(len(writes) for writes, _ in waiting)
        faults = notify_each((done for _, done in waiting), lambda done: done(failure))
        if faults:
            raise faults[0]

    def _gather(self, first: Waiting) -> tuple[list[Waiting], bool]:
        """Waiting commits for one transaction; and False if the broker stops after them."""
        waiting = [first]
        rows = len(first[0])
        while rows < ROWS_PER_TRANSACTION:
            try:
                following = self._queue.get_nowait()
            except Empty:
                break
            if following is None:
                return waiting, False
            waiting.append(following)
            rows += len(following[0])
        return waiting, True

    def _write(self, database: OffsetDatabase, waiting: list[Waiting]) -> StorageFailed | None:
        changes: dict[tuple[str, str, int], CommittedOffset | None] = {}
        for writes, _ in waiting:
            for group_id, topic, partition, committed in writes:
                changes[group_id, topic, partition] = committed
        if not changes:
            return None
        try:
            database.write(changes)
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
