"""A connection that fails while the loop waits for a response, on both event loops."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
import uvloop

from infrastructure.storage.postgresql.loop_commits import LoopCommits
from infrastructure.storage.postgresql.writer import Sent

WITHIN_S = 10
FATAL = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"


def message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


class Server:
    """It speaks as much of PostgreSQL's protocol as a connection needs, and reads no statement."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.ends, self.ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        client, _ = self._listening.accept()
        [size] = struct.unpack("!i", client.recv(4))
        client.recv(size - 4)
        client.sendall(
            message(b"R", struct.pack("!i", 0))
            + message(b"S", b"server_version\x0016.0\0")
            + message(b"S", b"client_encoding\0UTF8\0")
            + message(b"K", struct.pack("!ii", 1, 1))
            + message(b"Z", b"I")
        )
        assert self.ends.wait(WITHIN_S)
        client.sendall(message(b"E", FATAL))
        client.close()  # with unread bytes: a reset
        self.ended.set()

    def close(self) -> None:
        self.ends.set()
        self._thread.join(WITHIN_S)
        self._listening.close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


class FakeSession:
    def refused(self, error: Exception) -> None:
        assert isinstance(error, psycopg.Error)

    def give_back(self) -> None:
        pass


@pytest.mark.parametrize("new_loop", [asyncio.SelectorEventLoop, uvloop.new_event_loop])
def test_the_last_words_of_the_server_may_come_with_the_end(
    server: Server, new_loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    """uvloop calls back once for a connection that has failed."""
    loop = new_loop()
    left: list[Any] = []

    def leave(work: Any) -> None:
        left.append(work)
        loop.stop()

    place = f"host=127.0.0.1 port={server.port} user=x sslmode=disable gssencmode=disable"
    with psycopg.connect(place, autocommit=True) as connection:
        pgconn = connection.pgconn
        session: Any = FakeSession()
        writer: Any = None
        commits = LoopCommits(session, writer, loop, lambda *_: None, leave)
        staged: Any = object()
        plan: Any = object()
        commits._connection, commits._fd = connection, pgconn.socket
        commits._under_way = staged, plan, "a statement"
        commits._steps = [lambda: pgconn.send_query(b"select 1")]
        loop.add_reader(commits._fd, commits._readable)
        commits._send_next(pgconn)
        # The loop is busy meanwhile.
        server.ends.set()
        assert server.ended.wait(WITHIN_S)
        timer = loop.call_later(WITHIN_S, loop.stop)
        loop.run_forever()
        timer.cancel()
    loop.close()
    [sent] = left
    assert isinstance(sent, Sent)
    assert (sent.staged, sent.plan, commits.is_busy) == (staged, plan, False)
