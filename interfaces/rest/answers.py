"""Answers: JSON by orjson."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

import orjson
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from interfaces.rest.admin import Admin
from interfaces.rest.slices import PIECE_BYTES, encoded

JSON = "application/json"


#: A list of no more is one piece with a length.
WHOLE_PIECES = 4


class JsonAnswer(JSONResponse):
    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


def error_body(code: int, message: str, correlation_id: str) -> dict[str, Any]:
    return {"error_code": code, "message": encodable(message), "correlation_id": correlation_id}


def encodable(message: str) -> str:
    """Words of a client's in it may be half of a surrogate pair, which is no text."""
    return message.encode(errors="replace").decode()


async def listing(
    admin: Admin,
    kind: str,
    self_url: str,
    elements: Iterable[object],
    next_url: str | None = None,
    **more: str | bool,
) -> Response:
    """{kind, metadata, data}, in slices: `elements` may be a generator that does the work."""
    head = orjson.dumps({"kind": kind, "metadata": {"self": self_url, "next": next_url}, **more})
    pieces = encoded(admin, elements)
    begun = [head[:-1] + b',"data":']
    async for piece in pieces:
        begun.append(piece)
        if len(begun) > WHOLE_PIECES:
            return Pieces(begun, pieces, b"}")
    return Response(b"".join([*begun, b"}"]), media_type=JSON)


class Pieces(Response):
    """An answer that is sent while it is made, as fast as the client takes it."""

    media_type = JSON

    def __init__(self, begun: list[bytes], rest: AsyncIterator[bytes], end: bytes) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._begun = begun
        self._rest = rest
        self._end = end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status_code}
        await send({**start, "headers": self.raw_headers})
        for piece in self._begun:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        async for piece in self._rest:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": self._end})


class Large(Response):
    """What is whole already, and too much to be handed to its connection in one step."""

    media_type = JSON

    def __init__(self, pieces: list[bytes], headers: Mapping[str, str]) -> None:
        super().__init__(headers=dict(headers))
        self.headers["content-length"] = str(sum(map(len, pieces)))
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status_code}
        await send({**start, "headers": self.raw_headers})
        for whole in self._pieces:
            for at in range(0, len(whole), PIECE_BYTES):
                piece = whole[at : at + PIECE_BYTES]
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b""})
