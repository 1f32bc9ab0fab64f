"""Link: a connection that one thread uses, and that another may cut."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import psycopg

from domain.errors import StorageFailed
from infrastructure.storage.postgresql.server import Rows, is_lost

#: A thread that connects cannot be interrupted: closing a store waits no longer for it.
CLOSE_S = 1.0


class Link:
    __slots__ = ("_lock", "busy", "connection", "ended")

    def __init__(self, connection: Rows | None = None) -> None:
        self.connection = connection
        #: Set by what uses the connection, for as long as it does, before it looks at `ended`.
        self.busy = False
        self.ended = threading.Event()
        self._lock = threading.Lock()

    def rows(
        self,
        connect: Callable[[], Rows],
        statement: str,
        values: Mapping[str, object] | Sequence[object],
    ) -> list[tuple[Any, ...]]:
        """Once again over another connection, if it is lost: an idle one may be.

        Raises StorageFailed, psycopg.Error, or what `connect` does.
        """
        self.busy = True
        try:
            return self._patiently(connect, statement.encode(), values)
        finally:
            self.busy = False

    def _patiently(
        self,
        connect: Callable[[], Rows],
        statement: bytes,
        values: Mapping[str, object] | Sequence[object],
    ) -> list[tuple[Any, ...]]:
        lost = False
        while not self.ended.is_set():
            try:
                if self.connection is None:
                    self.connection = connect()
                    continue  # it may have been closed meanwhile
                # There are as many texts as tails.
                return self.connection.execute(
                    statement, values, prepare=False, binary=True
                ).fetchall()
            except psycopg.Error as error:
                connection = self.connection
                if connection is None or not is_lost(error, connection):
                    raise
                self.drop()
                if lost:
                    raise
                lost = True
            except BaseException:  # Ctrl-C
                self.drop()
                raise
        self.drop()
        raise StorageFailed("The store is closed")

    def drop(self) -> None:
        with self._lock:
            connection, self.connection = self.connection, None
            if connection is not None:
                with suppress(psycopg.Error):
                    connection.close()

    def end(self) -> None:
        """From any thread: its thread waits for no response any more, even if none ever comes."""
        self.ended.set()
        with self._lock:
            if self.busy and self.connection is not None:
                with suppress(psycopg.Error, OSError):
                    _shut_down(self.connection.fileno())


def check_open(connection: Rows) -> None:
    """Raises psycopg.Error if it is known to be lost: then nothing is sent. It does not wait."""
    for _ in range(2):  # the server's last words, and the end
        connection.pgconn.consume_input()


def _shut_down(descriptor: int) -> None:
    cut = socket.socket(fileno=descriptor)
    try:
        cut.shutdown(socket.SHUT_RDWR)
    finally:
        cut.detach()
