"""Methods: HEAD where GET is, and which ones a path has."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from starlette.routing import BaseRoute, Match

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

App = Callable[[Any, Any, Any], Awaitable[None]]


def methods_of(scope: Any, routes: Iterable[BaseRoute]) -> list[str]:
    """All that the path of a request has, whichever routes have them."""
    asked = {name: scope[name] for name in ("type", "path", "root_path", "headers")}
    found = []
    for method in _METHODS:
        if any(route.matches({**asked, "method": method})[0] is Match.FULL for route in routes):
            found += [method, "HEAD"] if method == "GET" else [method]
    return found


async def answer_head(app: App, scope: Any, receive: Any, send: Any) -> None:
    """As GET without its body; what makes a body without an end is stopped."""
    begun = asyncio.Event()

    async def send_head(message: Any) -> None:
        if message["type"] == "http.response.start":
            await send(message)
            await send({"type": "http.response.body", "more_body": False})
            begun.set()
        elif message.get("more_body", False):
            await asyncio.Event().wait()  # until it is cancelled

    answering = asyncio.ensure_future(app(scope, receive, send_head))
    beginning = asyncio.ensure_future(begun.wait())
    try:
        await asyncio.wait((answering, beginning), return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            answering.result()
    finally:
        for each in (answering, beginning):
            each.cancel()
        await asyncio.gather(answering, beginning, return_exceptions=True)
