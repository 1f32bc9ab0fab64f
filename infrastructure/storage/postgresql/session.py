"""Session: the right of one broker to write the store, and the number of its newest commit.

A broker takes a new session whenever it connects, which ends that of whoever had one: later
statements under an old session change nothing. The number of the newest commit says whether one
whose response was lost has been kept, and whether the database has gone back in time.
"""

from __future__ import annotations

import threading
from contextlib import suppress

import psycopg

from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageInUse
from infrastructure.storage.postgresql.server import Rows, Server, is_lost
from infrastructure.storage.postgresql.staged import Staged

#: Between two attempts to connect.
RETRY_S = 0.1
#: A commit that was not sent yet waits so long for a server that is away.
PATIENCE_S = 20.0

_LOCK = "hashtext('ottla'), hashtext(current_schema())"


class Session:
    """For one thread at a time, but for `end`."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._connection: Rows | None = None
        self._number = 0
        self._seq = 0
        self._ended = threading.Event()
        #: Final: another broker writes the store, or the database has lost commits.
        self._over: StorageFailed | None = None

    def begin(self, connection: Rows) -> None:
        """With a connection of `Server`. Raises StorageInUse or psycopg.Error."""
        self._lock(connection)
        [(self._number, self._seq)] = connection.execute(
            "select session, seq from ottla_store"
        ).fetchall()
        self._take(connection)

    def _lock(self, connection: Rows) -> None:
        """Only a courtesy to the operator: what keeps two brokers apart is the session."""
        found = connection.execute(f"select pg_try_advisory_lock({_LOCK})").fetchall()
        if found[0][0]:
            return
        holders = connection.execute(
            "select a.application_name from pg_locks l join pg_stat_activity a using (pid)"
            " where l.locktype = 'advisory' and l.granted and l.classid::bigint ="
            " (hashtext('ottla')::bigint & 4294967295) and l.objid::bigint ="
            " (hashtext(current_schema())::bigint & 4294967295)"
        ).fetchall()
        who = holders[0][0].removeprefix("ottla ") if holders else "unknown"
        raise StorageInUse(f"the database is in use by process {who}")

    def _take(self, connection: Rows) -> int | None:
        """The number of the newest commit; None: another broker has taken the store. Waits for a
        statement of the session before that still runs.
        """
        found = connection.execute(
            "update ottla_store set session = nextval('ottla_sessions')"
            " where session = %s returning session, seq",
            (self._number,),
        ).fetchall()
        if not found:
            return None
        [(self._number, seq)] = found
        self._connection = connection
        return int(seq)

    def commit(self, staged: Staged) -> StorageFailed | None:
        """None: kept. A failure: nothing of it was, and nothing will be, unless `end` was called
        meanwhile.
        """
        if self._over is not None:
            return self._over
        seq, sent, left_s = self._seq + 1, False, PATIENCE_S
        while True:
            if self._connection is None:
                try:
                    found = self._take(self._connected())
                except psycopg.Error as error:
                    self._disconnect()
                    if self._ended.is_set() or (not sent and left_s <= 0):
                        return self._server.failed("cannot be reached", error)
                    left_s -= RETRY_S
                    self._ended.wait(RETRY_S)
                    continue
                if found == seq and sent:
                    self._seq = seq
                    return None
                if found != self._seq:
                    return self._lose(found)
            assert self._connection is not None
            try:
                statement, parameters = staged.statement(self._number, seq)
                sent = True
                rows = self._connection.execute(statement.encode(), parameters).fetchall()
            except psycopg.Error as error:
                if is_lost(error, self._connection):
                    self._disconnect()
                    continue
                return self._server.failed("refused a commit", error)
            if not rows[0][0]:
                return self._lose(None)
            self._seq = seq
            return None

    def _connected(self) -> Rows:
        connection = self._server.connect()
        with suppress(StorageInUse):  # the server has not noticed that the one before is gone
            self._lock(connection)
        return connection

    def _lose(self, found: int | None) -> StorageFailed:
        if found is None:
            what = "another broker has taken over the store"
        else:
            what = f"PostgreSQL has commit {found}, not {self._seq}: it lost or gained commits"
        self._over = StorageFailed(f"{what}; restart the broker")
        self._disconnect()
        return self._over

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()

    def end(self) -> None:
        """From any thread: no more waiting."""
        self._ended.set()

    def close(self) -> None:
        """After the last commit."""
        self._disconnect()
