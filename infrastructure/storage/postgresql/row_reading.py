"""RowReading: single rows of scopes that another broker has in memory.

They are read in a thread, over a connection that is made at the first use.
"""

from __future__ import annotations

from typing import NamedTuple

import psycopg

from application.ports.pending import Pending, resolved
from domain.errors import StorageFailed
from infrastructure.storage.engine import ToLoop
from infrastructure.storage.loading_thread import LoadingThread
from infrastructure.storage.postgresql.link import CLOSE_S, Link
from infrastructure.storage.postgresql.server import Server
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
        self._link.busy = True
        try:
            return self._patiently(wanted)
        finally:
            self._link.busy = False

    def _patiently(self, wanted: _Wanted) -> Found:
        failure = StorageFailed("The store is closed")
        for _ in range(2):  # an idle connection may be lost
            if self._link.ended.is_set():
                break
            try:
                if self._link.connection is None:
                    self._link.connection = self._server.connect(again=True)
                values = wanted.table, place_of(wanted.key)
                rows = self._link.connection.execute(_ROW.encode(), values, binary=True).fetchall()
                return rows[0][0] if rows else None
            except psycopg.Error as error:
                failure = self._server.failed("could not be read", error)
                self._link.drop()
        return failure

    def close(self) -> None:
        self._link.end()
        self._thread.close(CLOSE_S)
        self._link.drop()
