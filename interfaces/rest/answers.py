"""JSON answers by orjson, and long lists that never hold the loop for long."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from time import perf_counter_ns
from typing import Any

import orjson
from starlette.responses import Response

#: The loop has other work after so long.
SLICE_NS = 500_000
#: So many elements are made before the time is looked at.
ELEMENTS = 16


class JsonAnswer(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


def error_body(code: int, message: str, correlation_id: str) -> dict[str, Any]:
    return {"error_code": code, "message": message, "correlation_id": correlation_id}


async def listing(
    kind: str, self_url: str, elements: Iterable[Any], next_url: str | None = None
) -> Response:
    """{kind, metadata, data}: the elements are made and encoded in slices of the loop's time."""
    metadata = {"self": self_url, "next": next_url}
    head = orjson.dumps({"kind": kind, "metadata": metadata})[:-1] + b',"data":['
    return Response(await in_slices(elements, head) + b"]}", media_type="application/json")


async def in_slices(elements: Iterable[Any], head: bytes = b"") -> bytes:
    """The elements as JSON, with commas, after `head`."""
    pieces: list[bytes] = []
    bunch: list[Any] = []
    started_ns = perf_counter_ns()
    for element in elements:
        bunch.append(element)
        if len(bunch) == ELEMENTS:
            pieces.append(orjson.dumps(bunch)[1:-1])
            bunch.clear()
            if perf_counter_ns() - started_ns > SLICE_NS:
                await asyncio.sleep(0)
                started_ns = perf_counter_ns()
    if bunch:
        pieces.append(orjson.dumps(bunch)[1:-1])
    return head + b",".join(pieces)
