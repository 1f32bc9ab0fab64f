"""Streamed: a response in pieces that are made while the client reads them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from starlette.responses import StreamingResponse

from domain.errors import BrokerError
from interfaces.rest.errors import RestError, refusal_of
from interfaces.rest.exchange import Exchange


class Streamed(StreamingResponse):
    """However it ends, its generator is closed and `close` is called: a scan holds a worker.

    Before each piece the login and the rights of the client are checked again, unless the body is
    still read: then they are checked with its pieces, before their records are appended.
    """

    def __init__(
        self,
        pieces: AsyncGenerator[bytes, None],
        media_type: str,
        headers: dict[str, str] | None = None,
        close: Callable[[], None] = lambda: None,
        listens: bool = True,
        ending: Callable[[RestError], bytes] | None = None,
    ) -> None:
        """`ending`: the last piece when the login or a right ends; None: it stays incomplete."""
        super().__init__(pieces, 200, headers, media_type)
        self._pieces = pieces
        self._close = close
        #: Ends when the client disconnects; not possible while the body is still read.
        self._listens = listens
        self._ending = ending

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        exchange: Exchange = scope["state"]["exchange"]

        async def send_if_allowed(message: Any) -> None:
            if message["type"] == "http.response.body":
                exchange.check_again()
            await send(message)

        try:
            if self._listens:
                await super().__call__(scope, receive, send_if_allowed)
            else:
                await self.stream_response(send)
        except BrokerError as failure:
            # Status 200 is sent. uvicorn closes the connection of an incomplete response.
            exchange.error_code = refusal_of(failure).code
        except RestError as ended:
            exchange.error_code = ended.code
            if self._ending is not None:
                await send({"type": "http.response.body", "body": self._ending(ended)})
        finally:
            await self._pieces.aclose()
            self._close()


async def left(receive: Any) -> None:
    """Returns when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
