"""Exchange: one request and its answer, as the gate around the app and the log line see it."""

from __future__ import annotations

import asyncio
from time import perf_counter_ns
from typing import Any, cast

from starlette.requests import Request

from application.ports.request_log import Requester
from domain.errors import BrokerError
from domain.security.principal import ANONYMOUS
from interfaces.rest.answers import error_body
from interfaces.rest.errors import RestError, message_of, refusal_of
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
        "method",
        "most_body_bytes",
        "path",
        "received_ns",
        "refused",
        "refused_codes",
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
        #: As it came: HEAD is routed as GET.
        self.method = scope["method"]
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
        #: What was refused of it, in an answer that is a success all the same: how much, and why.
        self.refused = 0
        self.refused_codes: set[int] = set()

    @property
    def api(self) -> str:
        """As in GET /topics/{topic_name}: few, however many topics there are."""
        route = self.scope.get("route")
        path = getattr(route, "path", None) or self._templates.of(self.scope["path"])
        return f"{self.method} {path or '(no such path)'}"

    @property
    def peer(self) -> str:
        return "{}:{}".format(*(self.scope.get("client") or ("", "")))

    @property
    def requester(self) -> Requester:
        return Requester(ANONYMOUS, None, self.peer)

    @property
    def failed(self) -> bool:
        """Nothing was answered, or a failure, or a success with one in it."""
        codes = self.error_code is not None or bool(self.refused_codes)
        return codes or self.status >= 400 or self.status == 0

    @property
    def error_codes(self) -> list[int]:
        """Each that is in the answer, once."""
        codes = self.refused_codes if self.error_code is None else {self.error_code}
        return sorted(self.refused_codes | codes)

    def refuse(self, error: BrokerError | RestError) -> dict[str, Any]:
        """A part of what was asked: as JSON for the answer, and remembered for the log."""
        if isinstance(error, RestError):
            return self.refuse_with(error.code, error.message)
        return self.refuse_with(refusal_of(error).code, message_of(error))

    def refuse_with(self, code: int, message: str) -> dict[str, Any]:
        self.refused += 1
        self.refused_codes.add(code)
        return error_body(code, message, self.correlation_id)


def exchange_of(request: Request) -> Exchange:
    return cast(Exchange, request.scope["state"]["exchange"])
