"""Login and logout of browsers, and who the client of a request is."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from domain.security.access import CLUSTER_NAME, Operation, ResourceType
from interfaces.rest.authentication import log_in, log_out
from interfaces.rest.exchange import Exchange, exchange_of
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import ShortRoutes, get, post
from interfaces.rest.session_cookie import SessionCookie
from interfaces.rest.shapes.session import LogIn, SessionBody

_CLUSTER_OPERATIONS = (
    Operation.CREATE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)


class SessionRoutes(ShortRoutes):
    tag = "session"

    @get("/session", SessionBody)
    async def get_session(self, request: Request) -> JsonResponse:
        """Who the client is, and what it may do to the cluster."""
        return JsonResponse(_body(exchange_of(request)))

    @post("/login", SessionBody)
    async def log_in(self, request: Request, body: LogIn) -> JsonResponse:
        """Begins a session with a cookie, for browsers; other clients need none."""
        exchange = exchange_of(request)
        headers, password = dict(request.headers), body.password.get_secret_value()
        session_id = await log_in(self._admin, exchange, headers, body.user, password)
        response = JsonResponse(_body(exchange))
        SessionCookie.of(request).set(response, session_id)
        return response

    @post("/logout", status_code=204)
    async def log_out(self, request: Request) -> Response:
        """Ends the session of the cookie."""
        if self._admin.authentication is not None:
            log_out(self._admin.authentication, exchange_of(request))
        response = Response(status_code=204)
        SessionCookie.of(request).remove(response)
        return response


def _body(exchange: Exchange) -> dict[str, Any]:
    operations = [
        one.name
        for one in _CLUSTER_OPERATIONS
        if exchange.may(one, ResourceType.CLUSTER, CLUSTER_NAME)
    ]
    return {
        "principal": str(exchange.principal),
        "csrf_token": exchange.session and exchange.session.csrf_token,
        "cluster_authorized_operations": operations,
    }
