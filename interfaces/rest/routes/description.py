"""The OpenAPI description of all routes and shapes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import orjson
from fastapi import APIRouter
from starlette.responses import Response

from interfaces.rest.answers import JSON


def router(describe: Callable[[], dict[str, Any]]) -> APIRouter:
    routes = APIRouter()
    cached: list[bytes] = []

    @routes.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        if not cached:
            # It takes half a second, and touches no state of the loop.
            cached.append(await asyncio.to_thread(lambda: orjson.dumps(describe())))
        return Response(cached[0], media_type=JSON)

    return routes
