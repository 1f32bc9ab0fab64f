"""LoopCommits: commits that the event loop itself sends, and whose responses it reads.

To hand a small commit over to a thread and back takes about as long as PostgreSQL takes for it. The
thread has what is large, and what needs more than one statement: commits by which this broker leads
more partitions, or of which the outcome is not known.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGconn, PGresult

from infrastructure.storage.engine import Sockets
from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.sending import numbered
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.session import Session
from infrastructure.storage.postgresql.staged import Staged
from infrastructure.storage.postgresql.statement import statement_of
from infrastructure.storage.postgresql.writer import Outcome, Sent, Writer, leader_rows

#: Of batches: they are copied while nothing else runs on the loop.
MOST_BYTES = 1 << 20
MOST_ROWS = 1000
#: Each tail has its own; what compaction or deleting needs comes rarely.
MOST_STATEMENTS = 32
_OK = (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)

#: With the outcome; or what the thread has to do, instead of it.
Ended = Callable[[Staged, Outcome], None]
Left = Callable[[Staged | Sent], None]


class LoopCommits:
    """One at a time, while the thread does nothing: both use the connection of the session."""

    def __init__(
        self, session: Session, writer: Writer, sockets: Sockets, ended: Ended, left: Left
    ) -> None:
        self._session = session
        self._writer = writer
        self._sockets = sockets
        self._ended, self._left = ended, left
        self._connection: Rows | None = None
        #: That are prepared on this connection, the latest used at the end.
        self._names: OrderedDict[str, bytes] = OrderedDict()
        #: On all connections.
        self._prepared = 0
        self._fd = -1
        self._under_way: tuple[Staged, Plan, str] | None = None
        #: Of the commit under way, still to be sent.
        self._steps: list[Callable[[], None]] = []
        self._result: PGresult | None = None

    @property
    def is_busy(self) -> bool:
        return self._under_way is not None

    def send(self, staged: Staged) -> bool:
        """False: it is for the thread."""
        if staged.batch_bytes > MOST_BYTES or len(staged.rows) > MOST_ROWS or leader_rows(staged):
            return False
        connection = self._session.take_connection()
        if connection is None:
            return False
        try:
            plan = self._writer.plan_of(staged)
            self._begin(connection, staged, plan)
        except Exception as fault:  # nothing was sent
            self.unwatch()
            self._under_way = None
            self._session.give_back()
            self._writer.ended()
            self._ended(staged, self._session.fail(fault))
            return True
        try:
            self._send_next(connection.pgconn)
        except Exception as error:  # not only of psycopg: what was sent is not known
            self._fail(error)
        return True

    def _begin(self, connection: Rows, staged: Staged, plan: Plan) -> None:
        if connection is not self._connection:
            self._connection = connection
            self._names.clear()
        statement, parameters = statement_of(staged, plan, self._session.fence())
        self._steps = self._steps_of(connection, statement, parameters)
        self._result = None
        self._under_way = staged, plan, statement
        fd = connection.pgconn.socket
        if fd != self._fd:
            self.unwatch()
            self._fd = fd
            self._sockets.add_reader(fd, self._readable)

    def _steps_of(
        self, connection: Rows, statement: str, parameters: list[Any]
    ) -> list[Callable[[], None]]:
        transformer, pgconn = Transformer(connection), connection.pgconn
        values = transformer.dump_sequence(parameters, [PyFormat.BINARY] * len(parameters))
        steps: list[Callable[[], None]] = []
        name = self._names.get(statement)
        if name is None:
            if len(self._names) >= MOST_STATEMENTS:
                _, oldest = self._names.popitem(last=False)
                steps.append(partial(pgconn.send_query, b"deallocate " + oldest))
            self._prepared += 1
            name = self._names[statement] = b"ottla_%d" % self._prepared
            text, types = numbered(statement), transformer.types
            steps.append(partial(pgconn.send_prepare, name, text, types))
        self._names.move_to_end(statement)
        steps.append(partial(pgconn.send_query_prepared, name, values, transformer.formats))
        return steps

    def _send_next(self, pgconn: PGconn) -> None:
        self._steps.pop(0)()
        if pgconn.flush():  # more than the socket takes
            self._sockets.add_writer(self._fd, self._writable)

    def _writable(self) -> None:
        if self._under_way is None or self._connection is None:
            self.unwatch()  # the response was there first
            return
        try:
            if not self._connection.pgconn.flush():
                self._sockets.remove_writer(self._fd)
        except Exception as error:  # not only of psycopg: the commit would wait for ever
            self._fail(error)

    def _readable(self) -> None:
        if self._under_way is None or self._connection is None:
            self.unwatch()  # the next commit finds out if the server has closed the connection
            return
        try:
            if not self._is_persisted(self._connection.pgconn):
                return
        except Exception as error:  # not only of psycopg: the commit would wait for ever
            self._fail(error)
            return
        staged, plan, _ = self._end()
        self._ended(staged, self._writer.persisted(staged, plan))

    def _is_persisted(self, pgconn: PGconn) -> bool:
        """False: there is more to come."""
        # The server's last words, and the end: uvloop tells of a connection that has failed once.
        for _ in range(2):
            pgconn.consume_input()
            while not pgconn.is_busy():
                result = pgconn.get_result()
                if result is not None:
                    self._result = result
                elif self._is_last(pgconn):
                    return True
        return False

    def _is_last(self, pgconn: PGconn) -> bool:
        """The statement has ended. False: the next one is sent."""
        found, self._result = self._result, None
        if found is None or found.status not in _OK:
            raise psycopg.OperationalError() if found is None else error_from_result(found)
        if self._steps:
            self._send_next(pgconn)
            return False
        place = found.get_value(0, 0) if found.ntuples else None
        if place is None:
            raise psycopg.OperationalError("the session is over")
        self._session.persisted(bytes(place).decode())
        return True

    def _fail(self, error: Exception) -> None:
        """Whatever it is, the commit ends, or the thread has it: none waits for ever."""
        self.unwatch()
        refused = self._session.refused(error)
        is_prepared = not self._steps
        staged, plan, statement = self._end()
        if not is_prepared:
            self._names.pop(statement, None)
        if isinstance(error, psycopg.errors.InvalidSqlStatementName):
            # psycopg gives all names up after a transaction that failed.
            self._names.clear()
            self._left(staged)
        elif refused is not None:
            self._writer.ended()
            self._ended(staged, refused)
        else:
            self._left(Sent(staged, plan, error))

    def _end(self) -> tuple[Staged, Plan, str]:
        assert self._under_way is not None
        ended, self._under_way = self._under_way, None
        self._steps = []
        self._session.give_back()
        return ended

    def unwatch(self) -> None:
        """Until the next commit here: the thread may use the connection, or it is closed."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            for remove in (self._sockets.remove_reader, self._sockets.remove_writer):
                with suppress(OSError):  # of a socket that libpq has closed
                    remove(fd)
