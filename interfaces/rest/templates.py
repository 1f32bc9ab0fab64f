"""Templates: which of the paths there are a request has asked for, whatever became of it.

What is refused at the gate never comes to its route, and a log that said there is no such path
would lead astray.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from starlette.routing import BaseRoute, Route

from interfaces.rest.urls import V3

_CLUSTER = re.compile(re.escape(V3).replace(r"\{cluster_id\}", "[^/]+") + "(?=/)")


class Templates:
    def __init__(self, short: Iterable[BaseRoute], of_cluster: Iterable[BaseRoute]) -> None:
        """`of_cluster`: those below that of the cluster."""
        self._short = _routes(short)
        self._of_cluster = _routes(of_cluster)

    def of(self, path: str) -> str | None:
        below = _CLUSTER.match(path)
        if below is not None:
            routes, path = self._of_cluster, path[below.end() :]
        else:
            routes = self._short
        return next((route.path for route in routes if route.path_regex.match(path)), None)


def _routes(routes: Iterable[BaseRoute]) -> list[Route]:
    return [route for route in routes if isinstance(route, Route)]
