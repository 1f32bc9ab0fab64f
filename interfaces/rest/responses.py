"""Responses: JSON by orjson."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

import orjson
from starlette.responses import JSONResponse, Response, StreamingResponse

from interfaces.rest.admin import Admin
from interfaces.rest.slices import PIECE_BYTES, encoded

JSON = "application/json"

#: A list of no more pieces is sent at once, with a content-length.
WHOLE_PIECES = 4


class JsonResponse(JSONResponse):
    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


def error_body(code: int, message: str, correlation_id: str) -> dict[str, Any]:
    return {"error_code": code, "message": encodable(message), "correlation_id": correlation_id}


def encodable(message: str) -> str:
    """A client's text in it may have half of a surrogate pair, which UTF-8 cannot encode."""
    return message.encode(errors="replace").decode()


async def listing(
    admin: Admin,
    kind: str,
    self_url: str,
    elements: Iterable[object],
    next_url: str | None = None,
    **more: object,
) -> Response:
    """{kind, metadata, data}, made in slices: `elements` may be a generator that does the work."""
    head = orjson.dumps({"kind": kind, "metadata": {"self": self_url, "next": next_url}, **more})
    pieces = encoded(admin, elements)
    first = [head[:-1] + b',"data":']
    async for piece in pieces:
        first.append(piece)
        if len(first) > WHOLE_PIECES:
            return StreamingResponse(_joined(first, pieces), media_type=JSON)
    return Response(b"".join([*first, b"}"]), media_type=JSON)


async def _joined(first: list[bytes], rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    for piece in first:
        yield piece
    async for piece in rest:
        yield piece
    yield b"}"


def large(pieces: list[bytes], headers: Mapping[str, str]) -> Response:
    """A complete response that is too large to be written to its connection in one step."""
    length = str(sum(map(len, pieces)))
    return StreamingResponse(
        _cut(pieces), headers={**headers, "content-length": length}, media_type=JSON
    )


async def _cut(pieces: list[bytes]) -> AsyncIterator[bytes]:
    for whole in pieces:
        for at in range(0, len(whole), PIECE_BYTES):
            yield whole[at : at + PIECE_BYTES]
            await asyncio.sleep(0)
