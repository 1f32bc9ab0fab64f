"""Answers: JSON by orjson."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
from starlette.responses import JSONResponse, Response

from interfaces.rest.slices import encoded

JSON = "application/json"


class JsonAnswer(JSONResponse):
    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


def error_body(code: int, message: str, correlation_id: str) -> dict[str, Any]:
    return {"error_code": code, "message": message, "correlation_id": correlation_id}


async def listing(
    kind: str,
    self_url: str,
    elements: Iterable[object],
    next_url: str | None = None,
    **more: str | bool,
) -> Response:
    """{kind, metadata, data}, in slices: `elements` may be a generator that does the work."""
    head = orjson.dumps({"kind": kind, "metadata": {"self": self_url, "next": next_url}, **more})
    return Response(head[:-1] + b',"data":' + await encoded(elements) + b"}", media_type=JSON)
