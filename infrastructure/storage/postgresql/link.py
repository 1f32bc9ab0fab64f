"""Link: a connection that one thread uses, and that another may cut."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

import psycopg

from infrastructure.storage.postgresql.server import Rows

#: A thread that connects cannot be interrupted: closing a store waits no longer for it.
CLOSE_S = 1.0


class Link:
    __slots__ = ("_lock", "busy", "connection", "ended")

    def __init__(self, connection: Rows | None = None) -> None:
        self.connection = connection
        #: Set by its thread before it looks at `ended`, and for as long as it uses the connection.
        self.busy = False
        self.ended = threading.Event()
        self._lock = threading.Lock()

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


def _shut_down(descriptor: int) -> None:
    cut = socket.socket(fileno=descriptor)
    try:
        cut.shutdown(socket.SHUT_RDWR)
    finally:
        cut.detach()
