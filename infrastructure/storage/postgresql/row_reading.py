"""RowReading: single rows of scopes that another broker has in memory.

They are read in a thread, over a connection that is made at the first use.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import psycopg

from application.ports.pending import Pending, resolved
from domain.errors import StorageFailed
from infrastructure.storage.engine import ToLoop
from infrastructure.storage.loading_thread import LoadingThread
from infrastructure.storage.postgresql.link import CLOSE_S, Link
from infrastructure.storage.postgresql.server import Server, reason_of
from infrastructure.storage.postgresql.statement import place_of

_ROW = 'select value from ottla_rows where "table" = %s and place = %s'

Found = bytes | StorageFailed | None


class _Wanted(NamedTuple):
    table: str
    key: bytes
    found: Pending[Found]


class RowReading:
    def __init__(self, server: Server, to_loop: ToLoop) -> None:
        self._server = server
        self._link = Link()
        self._thread: LoadingThread[_Wanted, Found] = LoadingThread(
            self._read, lambda wanted, found: wanted.found.resolve(found), to_loop, "ottla-rows"
        )

    def fetch(self, table: str, key: bytes) -> Pending[Found]:
        """As it is committed, since this call."""
        found: Pending[Found] = Pending()
        if not self._thread.put(_Wanted(table, key, found)):
            return resolved(StorageFailed("The store has no thread for reads"))
        return found

    def _read(self, wanted: _Wanted) -> Found:
        try:
            values = wanted.table, place_of(wanted.key)
            rows = self._link.rows(partial(self._server.connect, again=True), _ROW, values)
        except Exception as error:  # its caller waits
            return failure_of(error, self._server)
        return rows[0][0] if rows else None

    def close(self) -> None:
        self._link.end()
        self._thread.close(CLOSE_S)
        self._link.drop()


def failure_of(error: Exception, server: Server) -> StorageFailed:
    """Of a read, also if it is none of the database."""
    if isinstance(error, StorageFailed):
        return error
    if isinstance(error, psycopg.Error):
        return server.failed("could not be read", error)
    return StorageFailed(reason_of(error))
