"""What this server says of itself: its routes and shapes, as OpenAPI."""

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
    made: list[bytes] = []

    @routes.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        if not made:
            # It takes a while, and touches nothing that is the loop's.
            made.append(await asyncio.to_thread(lambda: orjson.dumps(describe())))
        return Response(made[0], media_type=JSON)

    return routes
