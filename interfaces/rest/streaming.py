"""Streamed: a response in pieces that are made while the client reads them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from starlette.responses import StreamingResponse

from domain.errors import BrokerError
from interfaces.rest.errors import refusal_of
from interfaces.rest.exchange import Exchange


class Streamed(StreamingResponse):
    """However it ends, its generator is closed and `close` is called: a scan holds a worker."""

    def __init__(
        self,
        pieces: AsyncGenerator[bytes, None],
        media_type: str,
        headers: dict[str, str] | None = None,
        close: Callable[[], None] = lambda: None,
        listens: bool = True,
    ) -> None:
        super().__init__(pieces, 200, headers, media_type)
        self._pieces = pieces
        self._close = close
        #: Ends when the client disconnects; not possible while the body is still read.
        self._listens = listens

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            if self._listens:
                await super().__call__(scope, receive, send)
            else:
                await self.stream_response(send)
        except BrokerError as failure:
            # Status 200 is sent. uvicorn closes the connection of an incomplete response.
            exchange: Exchange = scope["state"]["exchange"]
            exchange.error_code = refusal_of(failure).code
        finally:
            await self._pieces.aclose()
            self._close()


async def left(receive: Any) -> None:
    """Returns when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
