"""Exchange: one request and its answer, as the gate around the app and the log line see it."""

from __future__ import annotations

import asyncio
from time import perf_counter_ns
from typing import Any, cast

from starlette.requests import Request

from interfaces.rest.templates import Templates


class Exchange:
    __slots__ = (
        "_templates",
        "bytes_in",
        "bytes_out",
        "correlation_id",
        "error_code",
        "has_last_piece",
        "is_whole",
        "most_body_bytes",
        "path",
        "received_ns",
        "scope",
        "status",
        "stopping",
    )

    def __init__(
        self,
        scope: dict[str, Any],
        correlation_id: str,
        most_body_bytes: int,
        stopping: asyncio.Event,
        templates: Templates,
    ) -> None:
        self._templates = templates
        self.scope = scope
        #: As it came, decoded; that of the scope is for the routes.
        self.path = str(scope["path"])
        self.correlation_id = correlation_id
        #: Set when the server drains: answers without an end come to theirs.
        self.stopping = stopping
        #: A route that takes a body piece by piece lifts it: None.
        self.most_body_bytes: int | None = most_body_bytes
        self.received_ns = perf_counter_ns()
        self.bytes_in = self.bytes_out = 0
        #: Of a body that comes piece by piece: no further one is taken, as the server drains.
        self.has_last_piece = False
        #: Its body has come.
        self.is_whole = False
        #: 0: nothing was answered.
        self.status = 0
        self.error_code: int | None = None

    @property
    def api(self) -> str:
        """As in GET /topics/{topic_name}: few, however many topics there are."""
        route = self.scope.get("route")
        path = getattr(route, "path", None) or self._templates.of(self.scope["path"])
        path = path or "(no such path)"
        return f"{self.scope['method']} {path}"


def exchange_of(request: Request) -> Exchange:
    return cast(Exchange, request.scope["state"]["exchange"])
