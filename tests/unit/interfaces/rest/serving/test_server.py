from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest

from interfaces.rest.serving.server import AdminServer, HttpServer
from interfaces.sockets import listen
from tests.fakes.logs import FakeEventLog


class OneWord:
    """Sends one word to each client and closes the connection."""

    def __init__(self, hosts: list[str]) -> None:
        self.hosts = hosts
        self.servers: list[asyncio.Server] = []
        self.drained: list[float] = []

    async def serve(self, listening: list[socket.socket]) -> None:
        for each in listening:
            self.servers.append(await asyncio.start_server(self._greet, sock=each))

    async def _greet(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()

    async def end_requests(self) -> bool:
        return False

    async def drain(self, timeout_seconds: float) -> bool:
        self.drained.append(timeout_seconds)
        for server in self.servers:
            server.close()
        return True


class Factory:
    """Remembers every server it created."""

    def __init__(self) -> None:
        self.all: list[OneWord] = []

    def __call__(self, hosts: list[str]) -> HttpServer:
        self.all.append(OneWord(hosts))
        return self.all[-1]


Story = Callable[[AdminServer], Coroutine[Any, Any, None]]


def play(
    make: Callable[[list[str]], HttpServer], story: Story, drained: bool = True
) -> FakeEventLog:
    events = FakeEventLog()

    async def played() -> None:
        server = AdminServer(make, events)
        await story(server)
        assert await server.drain(5) is drained
        server.close()
        for _ in range(20):  # asyncio accepts a connection in a task of its own
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}, "a task is still running"

    asyncio.run(played())
    return events


async def read_all(address: tuple[str, int]) -> bytes:
    reader, writer = await asyncio.open_connection(*address)
    word = await reader.read()
    writer.close()
    return word


def test_the_http_server_is_created_once_at_the_first_connection() -> None:
    factory = Factory()

    async def story(server: AdminServer) -> None:
        first = server.open(listen("127.0.0.1", 0))
        second = server.open(listen("localhost", 0))
        assert factory.all == []
        words = await asyncio.gather(read_all(first), read_all(first), read_all(second))
        assert words == [b"hello"] * 3

    play(factory, story)
    [one] = factory.all
    assert one.hosts == ["127.0.0.1", "localhost"]
    assert one.drained == [5]


def test_without_a_connection_no_http_server_is_created() -> None:
    factory = Factory()
    bound: list[tuple[str, int]] = []

    async def story(server: AdminServer) -> None:
        bound.append(server.open(listen("", 0)))

    play(factory, story)
    assert factory.all == []
    with socket.create_server(("127.0.0.1", bound[0][1])):
        pass  # the address is free again


def test_a_failed_start_is_logged_and_closes_connections() -> None:
    def broken(_hosts: list[str]) -> HttpServer:
        raise ImportError("no module named fastapi")

    async def story(server: AdminServer) -> None:
        with suppress(ConnectionResetError):
            assert await read_all(server.open(listen("127.0.0.1", 0))) == b""

    assert error_in(play(broken, story)) is ImportError


def test_a_start_without_free_files_is_logged_once_and_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("interfaces.rest.serving.server.RETRY_S", 0)
    factory = Factory()
    failures = [OSError(errno.EMFILE, "Too many open files") for _ in range(3)]

    def at_last(hosts: list[str]) -> HttpServer:
        if failures:
            raise failures.pop()
        return factory(hosts)

    async def story(server: AdminServer) -> None:
        assert await read_all(server.open(listen("127.0.0.1", 0))) == b"hello"

    assert error_in(play(at_last, story)) is OSError


def test_a_stop_does_not_wait_for_a_start_without_free_files() -> None:
    def never(_hosts: list[str]) -> HttpServer:
        raise OSError(errno.EMFILE, "Too many open files")

    async def story(server: AdminServer) -> None:
        host, port = server.open(listen("127.0.0.1", 0))
        _, writer = await asyncio.open_connection(host, port)
        while not server._lacks_resources:
            await asyncio.sleep(0)
        writer.close()

    assert error_in(play(never, story)) is OSError


def error_in(events: FakeEventLog) -> type[object]:
    [(level, _, fields)] = events.lines
    assert level == "error"
    return type(fields["error"])


def test_a_stop_waits_for_the_start() -> None:
    factory = Factory()

    async def story(server: AdminServer) -> None:
        host, port = server.open(listen("127.0.0.1", 0))
        _, writer = await asyncio.open_connection(host, port)
        writer.close()
        for _ in range(3):  # the listening socket is looked at
            await asyncio.sleep(0)

    play(factory, story)
    assert all(one.drained for one in factory.all)


def test_a_server_that_fails_to_drain_is_logged() -> None:
    class Broken(OneWord):
        async def drain(self, timeout_seconds: float) -> bool:
            await super().drain(timeout_seconds)
            raise OSError("too many open files")

    async def story(server: AdminServer) -> None:
        assert await read_all(server.open(listen("127.0.0.1", 0))) == b"hello"

    assert error_in(play(Broken, story, drained=False)) is OSError
