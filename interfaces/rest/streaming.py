"""Streamed: an answer that comes in pieces, for as long as somebody reads it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from starlette.responses import Response

from application.ports.event_log import EventLog
from domain.errors import BrokerError
from interfaces.rest.errors import refusal_of
from interfaces.rest.exchange import Exchange

#: Who has taken nothing for so long, with more than its buffers hold waiting, is gone.
STALL_SECONDS = 30.0


class Streamed(Response):
    """However it ends, `close` is called: what makes the pieces may hold something that costs."""

    def __init__(
        self,
        pieces: AsyncGenerator[bytes, None],
        events: EventLog,
        media_type: str,
        headers: dict[str, str] | None = None,
        close: Callable[[], None] = lambda: None,
        listens: bool = True,
        stall_seconds: float = STALL_SECONDS,
    ) -> None:
        super().__init__(None, 200, headers, media_type)
        del self.headers["content-length"]
        self._pieces = pieces
        self._events = events
        self._close = close
        #: Whether it looks out for a client that leaves; not while its request is still read.
        self._listens = listens
        self._stall_seconds = stall_seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await self._answer(scope, receive, send)
        finally:
            self._close()

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        if not self._listens:
            await self._pour(scope, send)
            return
        pouring = asyncio.ensure_future(self._pour(scope, send))
        leaving = asyncio.ensure_future(left(receive))
        both = (pouring, leaving)
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in both:
                each.cancel()
            await asyncio.gather(*both, return_exceptions=True)
        if not pouring.cancelled():
            pouring.result()

    async def _pour(self, scope: Any, send: Any) -> None:
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async for piece in self._pieces:
                await self._send(scope, send, piece)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            _break_off(scope)
        except BrokerError as failure:
            exchange: Exchange = scope["state"]["exchange"]
            exchange.error_code = refusal_of(failure).code
            _break_off(scope)
        finally:
            await self._pieces.aclose()

    async def _send(self, scope: Any, send: Any, piece: bytes) -> None:
        try:
            async with asyncio.timeout(self._stall_seconds):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except TimeoutError:
            exchange: Exchange = scope["state"]["exchange"]
            self._events.warning(
                "a connection is closed: its client does not read",
                listener="admin",
                correlation_id=exchange.correlation_id,
                api=exchange.api,
                waited_seconds=self._stall_seconds,
            )
            raise


def _break_off(scope: Any) -> None:
    """The answer began as a good one: that it is none can be said in no other way."""
    abort = scope["state"].get("abort")
    if abort is not None:
        abort()


async def left(receive: Any) -> None:
    """Comes back when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
