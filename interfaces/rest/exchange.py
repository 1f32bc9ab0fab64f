"""Exchange: one request and its response, as the gate around the app and the log line see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter_ns, time_ns
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

from starlette.requests import Request

from application.ports.authorizer import Authorizer
from application.ports.request_log import (
    REMEMBERED_CHARACTERS,
    ClientInfo,
    Requester,
    RequestRecord,
)
from application.security.http_sessions import HttpSession
from domain.errors import BrokerError
from domain.security.access import CLUSTER_NAME, Operation, ResourceType
from domain.security.principal import ANONYMOUS, Principal
from interfaces.rest.admin import Refusals
from interfaces.rest.errors import UNAUTHENTICATED, RestError, message_of, refusal_of
from interfaces.rest.responses import error_body
from interfaces.sockets import plain_address

#: Methods that change nothing.
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
#: Paths that the console and monitoring poll.
_POLLED = (
    "/console/",
    "/connz",
    "/requestz",
    "/history",
    "/metrics",
    "/healthz",
    "/readyz",
    "/v1/",
)


class HttpKind(NamedTuple):
    """Satisfies RequestKind."""

    title: str
    version: int | None = None
    waits_for_others: bool = False


class Exchange:
    def __init__(
        self,
        scope: dict[str, Any],
        correlation_id: str,
        max_body_bytes: int,
        stopping: asyncio.Event,
        authorizer: Authorizer,
        refusals: Refusals,
    ) -> None:
        self.scope = scope
        self.path = unquote(scope["path"])
        #: As the client sent it: HEAD is routed as GET.
        self.method = scope["method"]
        self.correlation_id = correlation_id
        host, port = scope.get("client") or ("", "")
        #: The address of the client, as in ACLs.
        self.host = plain_address(host)
        self.peer = f"{self.host}:{port}"
        #: Set when the server drains: responses without an end finish.
        self.stopping = stopping
        #: Of the certificate of the client; set by the gate once a user is authenticated.
        self.principal: Principal = scope.get("principal", ANONYMOUS)
        #: Whose cookie the client sent instead of credentials.
        self.session: HttpSession | None = None
        #: False once the login of this request has ended; set by the authentication.
        self.is_logged_in: Callable[[], bool] = lambda: True
        self._authorizer = authorizer
        #: Of the decisions about the rights that the request has needed.
        self._revision = authorizer.revision
        self._needed: set[tuple[Operation, ResourceType, str]] = set()
        self._refusals = refusals
        #: None for a route that takes a body piece by piece.
        self.max_body_bytes: int | None = max_body_bytes
        self.received_ns = perf_counter_ns()
        self.bytes_in = self.bytes_out = 0
        #: The connection ends with the response.
        self.closes = False
        #: The client has disconnected.
        self.closing = False
        #: The whole body is received.
        self.is_whole = False
        #: 0: no response.
        self.status = 0
        self.error_code: int | None = None
        #: Parts of a request that failed in a response with a status of success: how many, and why.
        self.refused = 0
        self.refused_codes: set[int] = set()

    @property
    def api(self) -> str:
        """As in GET /topics/{topic_name}: few values, however many topics there are."""
        path = getattr(self.scope.get("route"), "path", None)
        return f"{self.method} {path or '(not routed)'}"

    @property
    def is_polling(self) -> bool:
        return self.method in ("GET", "HEAD") and (
            self.path == "/" or self.path.startswith(_POLLED) or self.path.endswith("/history")
        )

    def record(self, software: str, now_ns: int) -> RequestRecord:
        """For the newest requests, without stages."""
        parameters = self.scope.get("path_params", {})
        subject: tuple[str, str] = "path", self.path[:REMEMBERED_CHARACTERS]
        if "topic_name" in parameters:
            subject = "topic", parameters["topic_name"][:REMEMBERED_CHARACTERS]
        codes: tuple[int, ...] = ()
        names: tuple[str, ...] = ()
        if self.failed:
            codes = tuple(self.error_codes) or (self.status,)
            refused = f"{self.refused} refused" if self.refused else "no response"
            names = (f"HTTP {self.status}" if self.status >= 400 else refused,)
        client = ClientInfo(0, "admin", self.peer, None, 0, software[:REMEMBERED_CHARACTERS])
        begun_ns = self.received_ns
        return RequestRecord(
            HttpKind(self.api), self.correlation_id, client, 0, subject, self.bytes_in,
            self.bytes_out, codes, names, begun_ns, begun_ns, begun_ns, now_ns, now_ns, now_ns,
            time_ns() - now_ns,
        )  # fmt: skip

    @property
    def address(self) -> str:
        """As of a Kafka session."""
        return self.host

    @property
    def requester(self) -> Requester:
        return Requester(self.principal, None, self.peer)

    # ---- what the principal may do

    def may(self, operation: Operation, resource_type: ResourceType, name: str) -> bool:
        return self._authorizer.allows(self.principal, self.host, operation, resource_type, name)

    def may_describe(self, resource_type: ResourceType, name: str) -> bool:
        return self.may(Operation.DESCRIBE, resource_type, name)

    def require(self, operation: Operation, resource_type: ResourceType, name: str) -> None:
        """Raises RestError, also for a resource that does not exist."""
        if not self.may(operation, resource_type, name):
            self._refusals.denied(
                self.requester, self.api, self.correlation_id, operation, resource_type, name
            )
            right = f"{operation.value} {resource_type.value} {name}"
            raise RestError(403, f"{self.principal} may not {right}", 40301)
        self._needed.add((operation, resource_type, name))

    def check_again(self) -> None:
        """Raises RestError once the login or a right has ended: requests may last for days."""
        if not self.is_logged_in():
            raise RestError(401, "the login has ended: log in again", UNAUTHENTICATED)
        if self._revision != self._authorizer.revision:
            self._revision = self._authorizer.revision
            for right in tuple(self._needed):
                self.require(*right)

    @property
    def failed(self) -> bool:
        """No response, a failure, or a success with a failed part."""
        codes = self.error_code is not None or bool(self.refused_codes)
        return codes or self.status >= 400 or self.status == 0

    @property
    def error_codes(self) -> list[int]:
        """Every code in the response, once."""
        codes = self.refused_codes if self.error_code is None else {self.error_code}
        return sorted(self.refused_codes | codes)

    def refuse(self, error: BrokerError | RestError) -> dict[str, Any]:
        """A failed part of the request, as JSON for the response; the log line counts it."""
        if isinstance(error, RestError):
            return self.refuse_with(error.code, error.message)
        return self.refuse_with(refusal_of(error).code, message_of(error))

    def refuse_with(self, code: int, message: str) -> dict[str, Any]:
        self.refused += 1
        self.refused_codes.add(code)
        return error_body(code, message, self.correlation_id)


def require_create(exchange: Exchange, topic_name: str) -> None:
    """As in Kafka: of all topics, or of this one. Raises RestError."""
    if not exchange.may(Operation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME):
        exchange.require(Operation.CREATE, ResourceType.TOPIC, topic_name)


def exchange_of(request: Request) -> Exchange:
    return cast(Exchange, request.scope["state"]["exchange"])
