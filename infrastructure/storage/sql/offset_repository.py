"""Committed offsets in an SQL database: one thread waits for it, so that the loop never does.

    apply -> queue -> thread: all that waits, up to a hundred rows, in one transaction -> done

SQLAlchemy is imported in that thread too, so that nobody waits for it at start. A commit survives
what the database's own commits survive: SQLite runs in WAL mode, with `synchronous=FULL` where
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

#: In one transaction, but for what one client commits at once, which is not cut.
ROWS_PER_TRANSACTION = 100
RETRY_S = 1.0
LONGEST_RETRY_S = 30.0
#: At the end a database that does not answer is waited for so long.
CLOSING_S = 15.0
#: So often somebody who waits for the loop looks whether it ends.
LOOK_S = 0.1
#: A transaction that takes longer is told of.
SLOW_S = 5.0
#: No more wait for a database that hangs: a client that has given up comes again with the same.
ROWS_WAITING_MAX = 100_000

Done = Callable[[StorageFailed | None], None]
Waiting = tuple[Sequence[OffsetWrite], Done]


class SqlOffsetRepository:
    leaves_doubt = True

    def __init__(self, url: str, context: OffsetsContext) -> None:
        home, self._store_id, self._flush, self._to_loop, self._unusable, self._events = context
        self._home = home
        #: What is to be moved here.
        self._moving = home.rows() if home.known is None else []
        self._url = url
        self._queue: SimpleQueue[Waiting | None] = SimpleQueue()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._rows_waiting = 0
        #: When the transaction under way was begun, by the thread.
        self._since_s: float | None = None
        self._told_since_s: float | None = None
        #: Reasons that were told, until it goes well again. The thread's.
        self._told: set[str] = set()

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
        self._look_how_long()
        if self._rows_waiting and self._rows_waiting + len(writes) > ROWS_WAITING_MAX:
            failure = StorageFailed("Committed offsets cannot be stored: too many wait already")
            self._to_loop(partial(done, failure))
            return
        self._rows_waiting += len(writes)
        self._queue.put((writes, done))

    def _look_how_long(self) -> None:
        """The thread waits itself and can tell nobody; where offsets matter others come soon."""
        since_s = self._since_s
        if since_s is None or since_s == self._told_since_s:
            return
        waited_s = time.monotonic() - since_s
        if waited_s >= SLOW_S:
            self._told_since_s = since_s
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
                self._tell(done)
                self._keep_all(database)
            database.disconnect()
        except StorageUnusable as failure:
            self._give_up(failure)
        except Exception as fault:
            self._log_error(fault)
            self._give_up(StorageUnusable(f"{type(fault).__name__}: {fault}"))

    def _give_up(self, failure: StorageUnusable) -> None:
        self._tell(lambda: self._unusable(failure))

    def _open(self, database: OffsetDatabase) -> bool:
        """Until it is open and has what is to be here; False: the broker stops before."""
        known = self._home.known
        if not self._again_and_again(lambda: database.open(known)):
            return False
        if known is None and not (
            self._again_and_again(lambda: database.take_over(self._moving))
            and self._tell_home(database)
        ):
            return False
        self._moving = []
        return self._again_and_again(database.handed_over)

    def _tell_home(self, database: OffsetDatabase) -> bool:
        """Waits until the store knows it, too."""
        told: SimpleQueue[StorageFailed | None] = SimpleQueue()
        there = database.database
        assert there is not None
        self._tell(lambda: self._home.moved(there, told.put))
        while not self._closing.is_set():
            with suppress(Empty):
                failure = told.get(timeout=LOOK_S)
                if failure is not None:
                    raise StorageUnusable(failure.message)
                return True
        return False

    def _read(self, database: OffsetDatabase, take: Callable[[Sequence[OffsetRow]], None]) -> bool:
        """Those that were taken before it failed are taken again."""

        offsets = 0

        def read() -> None:
            nonlocal offsets
            offsets = 0
            for rows in database.rows():
                offsets += len(rows)
                self._tell(partial(take, rows))

        since_s = time.monotonic()
        self._tell(lambda: self._events.info("offsets_loading"))
        if not self._again_and_again(read):
            return False
        took_s = round(time.monotonic() - since_s, 1)
        self._tell(lambda: self._events.info("offsets_loaded", offsets=offsets, seconds=took_s))
        return True

    def _again_and_again(self, call: Callable[[], None]) -> bool:
        delay_s = RETRY_S
        while not self._closing.is_set():
            try:
                call()
            except StorageFailed as failure:
                self._say_trouble(failure)
                self._closing.wait(delay_s)
                delay_s = min(2 * delay_s, LONGEST_RETRY_S)
            else:
                return True
        return False

    def _keep_all(self, database: OffsetDatabase) -> None:
        going_on = True
        while going_on:
            first = self._queue.get()
            if first is None:
                return
            waiting, going_on = self._gather(first)
            self._since_s = time.monotonic()
            failure = self._keep(database, waiting)
            self._since_s = None
            self._tell(partial(self._tell_all, waiting, failure))

    def _tell_all(self, waiting: list[Waiting], failure: StorageFailed | None) -> None:
        self._rows_waiting -= sum(len(writes) for writes, _ in waiting)
        faults = notify_each((done for _, done in waiting), lambda done: done(failure))
        if faults:
            raise faults[0]

    def _gather(self, first: Waiting) -> tuple[list[Waiting], bool]:
        """What waits, as far as it fits into one transaction; and whether there may be more."""
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

    def _keep(self, database: OffsetDatabase, waiting: list[Waiting]) -> StorageFailed | None:
        changes: dict[tuple[str, str, int], CommittedOffset | None] = {}
        for writes, _ in waiting:
            for group_id, topic, partition, committed in writes:
                changes[group_id, topic, partition] = committed
        if not changes:
            return None
        try:
            database.write(changes)
        except StorageFailed as failure:
            self._say_trouble(failure)
            return failure.as_value()
        except StorageUnusable as unusable:
            self._give_up(unusable)
            return StorageFailed(f"Committed offsets cannot be stored: {unusable}")
        except Exception as fault:
            self._log_error(fault)
            return StorageFailed(f"Committed offsets cannot be stored: {type(fault).__name__}")
        if self._told:
            self._told.clear()
            self._tell(lambda: self._events.info("offsets_database_recovered"))
        return None

    def _say_trouble(self, failure: StorageFailed) -> None:
        """A reason once, until it goes well."""
        reason = failure.message
        if reason not in self._told:
            self._told.add(reason)
            self._log_error(reason)

    def _log_error(self, error: Exception | str) -> None:
        self._tell(lambda: self._events.error("offsets_database_failed", error=error))

    def _tell(self, call: Callable[[], None]) -> None:
        try:
            self._to_loop(call)
        except RuntimeError:
            pass  # the loop is closed: nobody is left to hear it
