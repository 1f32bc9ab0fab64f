"""Streamed: an answer that comes in pieces, for as long as somebody reads it.

That its client takes nothing any more is seen where its connection is:
`interfaces/rest/serving/stalls.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from starlette.responses import Response

from domain.errors import BrokerError
from interfaces.rest.errors import refusal_of
from interfaces.rest.exchange import Exchange


class Streamed(Response):
    """However it ends, `close` is called: what makes the pieces may hold something that costs."""

    def __init__(
        self,
        pieces: AsyncGenerator[bytes, None],
        media_type: str,
        headers: dict[str, str] | None = None,
        close: Callable[[], None] = lambda: None,
        listens: bool = True,
    ) -> None:
        super().__init__(None, 200, headers, media_type)
        del self.headers["content-length"]
        self._pieces = pieces
        self._close = close
        #: Whether it looks out for a client that leaves; not while its request is still read.
        self._listens = listens

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
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except BrokerError as failure:
            exchange: Exchange = scope["state"]["exchange"]
            exchange.error_code = refusal_of(failure).code
            _break_off(scope)
        finally:
            await self._pieces.aclose()


def _break_off(scope: Any) -> None:
    """The answer began as a good one: that it is none can be said in no other way."""
    abort = scope["state"].get("abort")
    if abort is not None:
        abort()


async def left(receive: Any) -> None:
    """Comes back when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
