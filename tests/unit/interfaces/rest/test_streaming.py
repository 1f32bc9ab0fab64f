from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from interfaces.rest.exchange import Exchange
from interfaces.rest.streaming import Streamed
from interfaces.rest.templates import Templates
from tests.fakes.logs import FakeEventLog


class Client:
    """Takes so many messages, and then no more; or leaves."""

    def __init__(self, takes: int = 1000, leaves: bool = False) -> None:
        self.events = FakeEventLog()
        self.sent: list[Any] = []
        self.closed = 0
        self.aborted = 0
        self._takes = takes
        self._leaves = leaves

    async def receive(self) -> Any:
        if not self._leaves:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if len(self.sent) >= self._takes:
            await asyncio.Event().wait()
        self.sent.append(message)

    def ask(self, pieces: AsyncGenerator[bytes, None]) -> None:
        def close() -> None:
            self.closed += 1

        def abort() -> None:
            self.aborted += 1

        async def story() -> None:
            scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/"}
            exchange = Exchange(scope, "id", 1000, asyncio.Event(), Templates([], []))
            scope["state"] = {"exchange": exchange, "abort": abort}
            answer = Streamed(pieces, self.events, "text/plain", close=close, stall_seconds=0.05)
            await answer(scope, self.receive, self.send)

        asyncio.run(story())

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


async def some(count: int) -> AsyncGenerator[bytes, None]:
    for number in range(count):
        yield b"%d," % number


async def endless() -> AsyncGenerator[bytes, None]:
    yield b"first,"
    await asyncio.Event().wait()


async def broken() -> AsyncGenerator[bytes, None]:
    yield b"first,"
    raise ZeroDivisionError


def test_all_pieces_come_and_it_is_closed() -> None:
    client = Client()
    client.ask(some(3))
    assert (client.body, client.closed) == (b"0,1,2,", 1)
    assert client.sent[-1]["more_body"] is False
    assert not any(name == b"content-length" for name, _ in client.sent[0]["headers"])


def test_a_client_that_does_not_read_is_sent_away() -> None:
    client = Client(takes=2)
    client.ask(some(3))
    assert (client.closed, client.aborted) == (1, 1)
    [(level, event, fields)] = client.events.lines
    assert (level, fields["correlation_id"]) == ("warning", "id")
    assert "does not read" in event


def test_a_client_that_leaves_ends_it() -> None:
    client = Client(leaves=True)
    client.ask(endless())
    assert (client.closed, client.aborted) == (1, 0)


def test_a_fault_on_the_way_comes_out() -> None:
    client = Client()
    with pytest.raises(ZeroDivisionError):
        client.ask(broken())
    assert client.closed == 1
