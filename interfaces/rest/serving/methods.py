"""The methods that a path has, for the Allow header of a 405."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from starlette.routing import BaseRoute, Match

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def methods_of(scope: Any, routes: Iterable[BaseRoute]) -> list[str]:
    """Of all routes with the path of this request; HEAD is served wherever GET is."""
    request = {name: scope[name] for name in ("type", "path", "root_path", "headers")}
    found = []
    for method in METHODS:
        if any(route.matches({**request, "method": method})[0] is Match.FULL for route in routes):
            found += [method, "HEAD"] if method == "GET" else [method]
    return found
