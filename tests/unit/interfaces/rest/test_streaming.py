from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from domain.errors import StorageFailed
from interfaces.rest.exchange import Exchange
from interfaces.rest.streaming import Streamed
from tests.fakes.admin import FakeAdmin


class Client:
    """Receives a response, or disconnects."""

    def __init__(self, disconnects: bool = False) -> None:
        self.sent: list[Any] = []
        self.closed = 0
        self._disconnects = disconnects

    async def receive(self) -> Any:
        if not self._disconnects:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    def close(self) -> None:
        self.closed += 1

    def get(self, pieces: AsyncGenerator[bytes, None]) -> None:
        async def story() -> None:
            scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/"}
            admin = FakeAdmin().admin
            scope["state"] = {
                "exchange": Exchange(
                    scope, "id", 1000, asyncio.Event(), admin.broker.authorizer, admin.refusals
                )
            }
            response = Streamed(pieces, "text/plain", close=self.close)
            await response(scope, self.receive, self.send)

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


async def failing(error: Exception) -> AsyncGenerator[bytes, None]:
    yield b"first,"
    raise error


def test_a_stream_sends_all_pieces_and_is_closed() -> None:
    client = Client()
    client.get(some(3))
    assert (client.body, client.closed) == (b"0,1,2,", 1)
    assert client.sent[-1]["more_body"] is False
    assert not any(name == b"content-length" for name, _ in client.sent[0]["headers"])


def test_a_disconnected_client_ends_the_stream() -> None:
    client = Client(disconnects=True)
    client.get(endless())
    assert client.closed == 1


def test_a_storage_failure_leaves_the_response_incomplete() -> None:
    client = Client()
    client.get(failing(StorageFailed("the disk is broken")))
    assert client.closed == 1
    assert client.sent[-1]["more_body"], "it is not complete, so uvicorn closes the connection"


def test_an_unexpected_error_in_a_stream_is_raised() -> None:
    client = Client()
    with pytest.raises(ZeroDivisionError):
        client.get(failing(ZeroDivisionError()))
    assert client.closed == 1
