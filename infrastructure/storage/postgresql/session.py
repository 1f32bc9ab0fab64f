"""Session: the right of one broker to write the store, and the number of its newest commit.

A broker takes a new session whenever it connects, which ends the one before, also of another
broker: later statements under an old session change nothing. The number of the newest commit says
whether one whose response was lost has been persisted, and whether the database has gone back in
time.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

import psycopg
from psycopg.errors import Diagnostic

from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageInUse, closed_during_a_commit
from infrastructure.storage.postgresql import leases
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.fence import ALONE, Fence
from infrastructure.storage.postgresql.link import Link, check_open
from infrastructure.storage.postgresql.locks import NodeLock
from infrastructure.storage.postgresql.server import Rows, Server, end_backend, is_lost
from infrastructure.storage.postgresql.shared_rows import Gained, Row
from infrastructure.storage.postgresql.tables import fence_of

_FORMER = 100
_CHANGED_MEANWHILE = "Another broker has changed the same meanwhile, or a standby was promoted"
#: Of "canceling wait for synchronous replication": the commit is there, and succeeds.
_WARNING = "01000"

#: Between two attempts to connect, or to get the lock.
RETRY_S = 0.1
#: A commit of which nothing is, or will be, persisted is sent for so long.
PATIENCE_S = 20.0
#: A commit that takes longer is reported.
LONG_S = 2.0
#: The backend of a broker that was just killed, or closed, may still have the lock.
LOCK_S = 1.0

#: Waits for a statement of the old session that still runs. The new one may be taken already: the
#: response was lost.
_TAKE = """
    with old as (
        select node_id, session, seq from ottla_fences
        where node_id = %(node)s and session = any(%(own)s) for update),
    past as (
        insert into ottla_sessions (session, last_seq)
        select session, seq from old where session not in (0, %(new)s)),
    taken as (
        update ottla_fences f set session = %(new)s from old where f.node_id = old.node_id
        returning f.seq, f.ctid::text)
    select seq, ctid from taken
"""


class Change(Protocol):
    def execute(self, connection: Rows, fence: Fence) -> str | None:
        """As a whole. The new place of the fence; None: the session is over, and nothing has
        changed. Raises psycopg.Error. Repeated if nothing was persisted.
        """
        ...


#: The new place of the fence; None: it cannot. Raises psycopg.Error.
Repeat = Callable[[Rows, Fence, int], str | None]


class Session:
    """For one thread at a time, or the loop, but for `end` and the numbers."""

    def __init__(self, server: Server, node_id: int, patience_s: float = PATIENCE_S) -> None:
        self._server = server
        self.node_id = node_id
        self._patience_s = patience_s
        #: Of the row in ottla_fences.
        self._place = ""
        self._link = Link()
        self._backend = self._number = 0  # of the newest connection
        #: To be taken, or already taken without a response. Random: a database that went back in
        #: time would give the same number again.
        self._next = secrets.randbits(62)
        #: Of this process: a database that went back in time may have one of them.
        self._former: deque[int] = deque(maxlen=_FORMER)
        self._seq = 0
        #: So many sessions. Read from any thread.
        self.taken = 0
        #: Commits again what is between a fence and the newest commit.
        self.repeat: Repeat = lambda connection, fence, newest: None
        #: Whether the database has lost what other brokers have changed. Raises psycopg.Error.
        self.lacks_shared: Callable[[Rows], bool] = lambda connection: False
        #: Final: another broker writes the store, or the database has lost commits.
        self._over: StorageFailed | None = None
        #: The server has said of a commit that it did not wait for the standby to the end.
        self._is_on_server_only = False
        #: Of the commit under way.
        self._began_s = 0.0
        self._problem: Exception | None = None

    def begin(self, connection: Rows, read_only: bool = False) -> None:
        """With a connection of `Server`. Raises StorageInUse or psycopg.Error."""
        lock = NodeLock(self.node_id)
        until = time.monotonic() + LOCK_S
        while not lock.taken(connection):
            # The server may not have noticed that its client is gone.
            if time.monotonic() >= until and not leases.end_former(connection, self.node_id):
                what = "the database" if self.node_id == ALONE else f"node.id {self.node_id}"
                raise StorageInUse(f"{what} is in use by {lock.holder(connection)}")
            time.sleep(RETRY_S)
        self._take_notices(connection)
        self._link.connection = connection
        if read_only:
            self._over = StorageFailed("The store was opened to be read only")
            return
        seq = None
        while seq is None:
            self._number = fence_of(connection, self.node_id)
            seq = self._take(connection)
        self._seq = seq
        self._backend = connection.info.backend_pid

    def fence(self) -> Fence:
        return Fence(self.node_id, self._number, self._seq, self._place)

    def _take_notices(self, connection: Rows) -> None:
        self._is_on_server_only = False
        connection.add_notice_handler(self._noticed)

    def _noticed(self, notice: Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING" and notice.sqlstate == _WARNING:
            self._is_on_server_only = True

    def _check_replicated(self) -> None:
        """Raises psycopg.Error if the wait for the standby was cancelled: with the next connection
        there is another one.
        """
        if self._is_on_server_only:
            raise psycopg.OperationalError("PostgreSQL did not wait for its standby")

    def raise_leader_epoch(self, epoch: int) -> None:
        """For commands. Raises StorageFailed."""
        assert self._link.connection is not None
        try:
            # The next start adds one.
            raised = "update ottla_store set epoch = greatest(epoch, %s)"
            self._link.connection.execute(raised, (epoch,))
        except psycopg.Error as error:
            raise self._server.failed("refused a leader epoch", error) from error

    def _take(self, connection: Rows) -> int | None:
        """The number of the newest commit; None: the session is over."""
        own = [self._number, self._next, *self._former]
        values = {"node": self.node_id, "own": own, "new": self._next}
        found = connection.execute(_TAKE, values).fetchall()
        if not found:
            return None
        self._number, self._next = self._next, secrets.randbits(62)
        self._former.append(self._number)
        self.taken += 1
        [(seq, self._place)] = found
        return int(seq)

    @property
    def is_over(self) -> bool:
        """This process commits nothing any more."""
        return self._over is not None

    def fail(self, fault: Exception) -> StorageFailed:
        """Of a commit, in a way that is not known: the process should start again."""
        self._over = StorageFailed(f"A commit ended with {fault!r}; restart the broker")
        self._over.__cause__ = fault
        return self._over

    @property
    def seq(self) -> int:
        """Of the newest commit."""
        return self._seq

    @property
    def number(self) -> int:
        """From any thread; it changes with the connection."""
        return self._number

    @property
    def numbers(self) -> tuple[int, int]:
        """Of this session, and of the next, which the server may have already."""
        return self._number, self._next

    def commit(
        self, change: Change, patience_s: float | None = None, sent: Exception | None = None
    ) -> StorageFailed | None:
        """None: persisted. A failure: nothing of it is, nor will be, unless `end` was called.
        `sent`: it was sent already, and this came of it.
        """
        self._problem, self._link.busy = sent, True
        if sent is None:
            self._began_s = time.monotonic()
        try:
            if sent is not None:
                self._link.drop()
            limit_s = self._patience_s if patience_s is None else patience_s
            return self._commit(change, limit_s, sent is not None)
        finally:
            self._link.busy = False

    def take_connection(self) -> Rows | None:
        """For a commit that is sent elsewhere, until `give_back`. None: `commit` has to send it."""
        connection = self._link.connection
        if connection is None or self._over is not None:
            return None
        try:
            check_open(connection)
        except psycopg.Error:
            return None
        self._problem, self._began_s = None, time.monotonic()
        self._link.busy = True
        return connection

    def give_back(self) -> None:
        self._link.busy = False

    def persisted(self, place: str) -> None:
        """One more commit. Raises psycopg.Error if that is not known."""
        self._check_replicated()
        self._seq, self._place = self._seq + 1, place

    @property
    def takes_long(self) -> bool:
        """The commit under way. From any thread."""
        return self._link.busy and time.monotonic() - self._began_s >= LONG_S

    @property
    def problem(self) -> str | None:
        """Of the commit under way; None: it waits for a response. From any thread."""
        problem = self._problem
        return None if problem is None else self._unreachable(problem).message

    def _unreachable(self, problem: Exception) -> StorageFailed:
        return self._server.failed("cannot be reached", problem)

    def _commit(self, change: Change, patience_s: float, is_open: bool) -> StorageFailed | None:
        """`is_open`: it was sent, and what became of it is not known."""
        until = self._began_s + patience_s
        failures = int(is_open)
        while self._over is None:
            if self._link.ended.is_set():
                return closed_during_a_commit()
            # An idle connection may be lost: that alone says nothing about the server.
            problem = self._problem
            if problem and failures > 1 and not is_open and time.monotonic() >= until:
                return self._unreachable(problem)
            try:
                if self._link.connection is None:
                    found = self._resume()
                    if is_open and found == self._seq + 1:
                        self._seq = found
                        return None
                    is_open = False
                    self._check(found)
                    continue
                check_open(self._link.connection)
                is_open = True
                place = change.execute(self._link.connection, self.fence())
                # `_resume` asks for the session, and waits for standbys.
                if place is None:
                    self._problem = psycopg.OperationalError("the session is over")
                else:
                    self.persisted(place)
                    return None
            except Exception as error:  # not only of psycopg: the thread must go on
                refused = self.refused(error) if is_open else None
                if refused is not None:
                    return refused
                self._problem = error
                if self._link.connection is None:
                    self._link.ended.wait(RETRY_S)
            except BaseException:  # Ctrl-C
                self._link.drop()
                if is_open:
                    self._over = StorageFailed("A commit was interrupted; restart the broker")
                raise
            failures += 1
            self._link.drop()
        self._link.drop()
        return self._over

    def gained(self, contents: Contents, rows: Sequence[Row]) -> Gained | StorageFailed:
        """After a commit of these rows: what this broker has to know of partitions it leads now.

        A failure: the session is over. The commit is persisted all the same.
        """
        self._link.busy = True
        try:
            while self._over is None and not self._link.ended.is_set():
                try:
                    if self._link.connection is None:
                        self._check(self._resume())
                        continue
                    return contents.gained(self._link.connection, rows)
                except Exception as error:  # not only of psycopg: the thread must go on
                    self._problem = error
                    self._link.drop()
                    self._link.ended.wait(RETRY_S)
            return self._over or closed_during_a_commit()
        finally:
            self._link.busy = False

    def refused(self, error: Exception) -> StorageFailed | None:
        """The server responds that nothing was persisted. None: that is not known."""
        connection = self._link.connection
        if (
            connection is None
            or not isinstance(error, psycopg.Error)
            or is_lost(error, connection)
            # Another broker has taken over the store, and dropped the tail.
            or isinstance(error, psycopg.errors.UndefinedTable)
        ):
            return None
        if isinstance(error, psycopg.errors.DivisionByZero):
            return StorageFailed(_CHANGED_MEANWHILE)
        return self._server.failed("refused a commit", error)

    def _resume(self) -> int | None:
        """Connects, and takes the next session: what was sent under the last one is persisted by
        now, or never will be. The number of its newest commit; None: the database does not know it.
        """
        connection = self._server.connect(again=True)
        try:
            self._link.connection = connection
            if self._link.ended.is_set():
                raise psycopg.OperationalError("the store is being closed")
            end_backend(connection, self._backend)  # which may warn, too
            self._take_notices(connection)
            NodeLock(self.node_id).taken(connection)
            found = self._take(connection)
            self._check_replicated()
            if found is None:
                found = self._last_seq(connection)
                self._check_replicated()
                why = "another broker has ended the session of this one"
                if found is None:
                    why = "PostgreSQL does not know this session: it has lost commits"
                self._end(why)
            elif self.lacks_shared(connection):
                self._end("PostgreSQL has lost changes of what brokers share")
        except BaseException:
            self._link.drop()
            raise
        self._backend = connection.info.backend_pid
        return found

    def _end(self, why: str) -> None:
        # One of several brokers starts again by itself.
        then = "; restart the broker" if self.node_id == ALONE else ""
        self._over = StorageFailed(f"{why}{then}")

    def _last_seq(self, connection: Rows) -> int | None:
        """Of a session that is over.

        It is written, to wait for synchronous standbys: after a restart of PostgreSQL a read sees
        what they lack.
        """
        found = connection.execute(
            "update ottla_sessions set last_seq = last_seq where session = %s returning last_seq",
            (self._number,),
        ).fetchall()
        return int(found[0][0]) if found else None

    def _check(self, found: int | None) -> None:
        """Raises psycopg.Error."""
        if self._over is None and found != self._seq and not self._repeated(found):
            self._end(f"PostgreSQL has commit {found}, not {self._seq}: it lost or gained commits")

    def _repeated(self, found: int | None) -> bool:
        """The database has lost commits, and has them again."""
        if found is None or found > self._seq:
            return False
        assert self._link.connection is not None
        fence = Fence(self.node_id, self._number, found, self._place)
        try:
            place = self.repeat(self._link.connection, fence, self._seq)
        except psycopg.Error as error:
            if is_lost(error, self._link.connection):
                raise
            return False  # it would be refused again
        if place is not None:
            self._place = place
        return place is not None

    def end(self) -> None:
        """From any thread: no more waiting."""
        self._link.end()

    def close(self) -> None:
        """After the last commit."""
        self._link.drop()
