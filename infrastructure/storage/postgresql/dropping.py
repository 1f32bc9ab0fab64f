"""Dropping: tails that no run refers to are dropped whole, by a thread with its own connection.

Objects are garbage from then on, and are deleted later.
"""

from __future__ import annotations

from contextlib import closing, suppress
from time import monotonic
from typing import NamedTuple

import psycopg

from infrastructure.storage.engine import ToLoop
from infrastructure.storage.loading_thread import LoadingThread
from infrastructure.storage.postgresql.garbage import Garbage, drop_object
from infrastructure.storage.postgresql.link import CLOSE_S
from infrastructure.storage.postgresql.retry_pause import RETRY_S
from infrastructure.storage.postgresql.server import Rows, Server, is_lost, reason_of
from infrastructure.storage.postgresql.session import Session
from infrastructure.storage.postgresql.tails import Tails, tail_rows, unused_rows

#: Between two looks for what other brokers have freed, and for what no broker drops: the one that
#: did not need it any more was killed.
SEARCH_S = 60.0
#: Others that read the table wait for so long.
_LOCK_TIMEOUT = "set local lock_timeout = '100ms'"
#: Does not lock the row that commits update: a tail that has no runs and is no broker's current
#: one gets no runs again, under any session.
_MAY_DROP = """
    select from ottla_fences where session = %(session)s
    and not exists (select from ottla_fences where tail = %(tail)s)
    and not exists (select from ottla_runs where tail = %(tail)s)
"""
_NEEDED = """
    select from ottla_fences where tail = %(tail)s
    union all (select from ottla_runs where tail = %(tail)s limit 1)
"""


class _Dropped(NamedTuple):
    tails: list[int]
    #: Nothing was due beyond.
    is_all: bool


class Dropping:
    def __init__(
        self,
        server: Server,
        session: Session,
        tails: Tails,
        to_loop: ToLoop,
        garbage: Garbage | None = None,
    ) -> None:
        """`garbage`: of a store with objects."""
        self._server = server
        self._session = session
        self._tails = tails
        self._garbage = garbage
        self._thread = LoadingThread(self._drop_all, self._dropped, to_loop, "ottla-drops")
        self.is_busy = False
        self._not_before_s = 0.0
        #: Why tails that nothing needs stay, by number. Another broker may have dropped some since.
        self.problems: dict[int, str] = {}
        #: For the thread, but for the time.
        self._strays: set[int] = set()
        self._next_search_s = monotonic() + SEARCH_S

    def look(self) -> None:
        """On the loop, so that all reads to come know that the runs are gone."""
        if self.is_busy or monotonic() < self._not_before_s:
            return
        tails = self._tails.unused
        is_due = tails or (self._garbage is not None and self._garbage.is_due)
        if is_due or monotonic() >= self._next_search_s:
            self.is_busy = self._thread.put(tails)

    def _drop_all(self, tails: tuple[int, ...]) -> _Dropped:
        dropped: list[int] = []
        # Whatever is wrong, the thread goes on, and they are dropped later.
        with suppress(Exception), closing(self._server.connect(again=True)) as connection:
            dropped += (tail for tail in tails if self._drop(connection, tail))
            if monotonic() >= self._next_search_s:
                self._next_search_s = monotonic() + SEARCH_S
                self._tails.count_again(tail_rows(connection, self._tails.known()))
                self._drop_strays(connection)
            if self._garbage is not None:
                self._garbage.delete(connection)
            return _Dropped(dropped, len(dropped) == len(tails))
        return _Dropped(dropped, False)

    def _drop_strays(self, connection: Rows) -> None:
        """Since the last search: the broker that has just made one unused may read it still."""
        before, found = self._strays, {row.number for row in unused_rows(connection)}
        self._strays = {
            tail for tail in found if tail not in before or not self._drop(connection, tail)
        }

    def _drop(self, connection: Rows, tail: int) -> bool:
        """True: this broker forgets it: it is dropped, or others need it. False: later."""
        try:
            is_over = self._try_to_drop(connection, tail)
        except (psycopg.errors.LockNotAvailable, psycopg.errors.UndefinedTable):
            return False
        except psycopg.Error as error:
            if is_lost(error, connection):
                raise
            # As a view of an operator: the other tails go.
            self.problems = {**self.problems, tail: f"tail {tail}: {reason_of(error)}"}
            return False
        if tail in self.problems:
            self.problems = {one: why for one, why in self.problems.items() if one != tail}
        return is_over

    def _try_to_drop(self, connection: Rows, tail: int) -> bool:
        """Raises psycopg.Error."""
        found = connection.execute(
            "select object from ottla_tails where n = %s", (tail,)
        ).fetchall()
        if not found:
            return True  # by another broker, or the response was lost
        if found[0][0] is not None:
            return drop_object(connection, tail, self._session.number)
        table = f"ottla_tail_{tail}"
        values = {"session": self._session.number, "tail": tail}
        with connection.transaction():
            connection.execute(_LOCK_TIMEOUT)
            if connection.execute(_NEEDED, values).rowcount:
                return True  # by another broker, which drops it
            connection.execute(f"lock table {table} in access exclusive mode".encode())
            if not connection.execute(_MAY_DROP, values).rowcount:
                return False
            connection.execute(f"drop table {table}".encode())
            connection.execute("delete from ottla_tails where n = %s", (tail,))
        return True

    def _dropped(self, _: tuple[int, ...], dropped: _Dropped) -> None:
        self.is_busy = False
        for tail in dropped.tails:
            self._tails.forget(tail)
        if not dropped.is_all:
            # Something reads the table, as a backup, which may take hours; or the server is away.
            self._not_before_s = monotonic() + RETRY_S
        else:
            self.look()

    def close(self) -> None:
        self._thread.close(CLOSE_S)
