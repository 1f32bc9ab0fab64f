"""Gate: what every request passes on its way to the app, and every answer on its way back.

Here a request gets its correlation id, is let in or refused by the guard, has its body counted, and
becomes one line in the log; and here what nobody foresaw is caught.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from email.utils import formatdate
from time import perf_counter_ns
from typing import Any

from fastapi import FastAPI

from domain.security.access import CLUSTER_NAME, Operation, ResourceType
from domain.security.principal import ANONYMOUS
from interfaces.rest.admin import Admin
from interfaces.rest.answers import JsonAnswer, error_body
from interfaces.rest.errors import RestError
from interfaces.rest.exchange import Exchange
from interfaces.rest.serving.correlation import HEADER, correlation_id_of
from interfaces.rest.serving.guard import SAFE, Guard
from interfaces.rest.serving.methods import answer_head
from interfaces.rest.templates import Templates

#: So long the next piece of a body may take that is not taken piece by piece.
BODY_PATIENCE_S = 30.0

#: No page of somebody else is to hold what is answered, not even as an image.
_POLICY = (b"cross-origin-resource-policy", b"same-origin")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


class Gate:
    def __init__(self, app: FastAPI, admin: Admin, guard: Guard, stopping: asyncio.Event) -> None:
        self._app: App = app
        self._templates: Templates = app.state.templates
        self._admin = admin
        self._guard = guard
        self._stopping = stopping
        self._most_body_bytes = admin.broker.config.admin_request_max_bytes

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        exchange = Exchange(
            scope,
            correlation_id_of(headers.get(HEADER)),
            self._most_body_bytes,
            self._stopping,
            self._templates,
        )
        scope.setdefault("state", {})["exchange"] = exchange

        async def counted() -> Message:
            message = await self._received(exchange, receive)
            exchange.bytes_in += len(message.get("body", b""))
            most = exchange.most_body_bytes
            if most is not None and exchange.bytes_in > most:
                raise RestError(413, f"the body is larger than {most} bytes")
            return message

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                given = [each for each in message.get("headers", ()) if each[0] != _POLICY[0]]
                message["headers"] = [
                    *given,
                    _POLICY,
                    (b"date", formatdate(self._admin.clock.now_ms() / 1000, usegmt=True).encode()),
                    (HEADER.encode(), exchange.correlation_id.encode()),
                ]
                if exchange.status in (408, 413):
                    message["headers"].append((b"connection", b"close"))
            else:
                if exchange.method == "HEAD":
                    message["body"] = b""
                exchange.bytes_out += len(message.get("body", b""))
            await send(message)

        failure: Exception | None = None
        try:
            if "content-length" in headers and "transfer-encoding" in headers:
                # Whoever passed it on may have read the other one.
                raise RestError(400, "a body has Content-Length or Transfer-Encoding, not both")
            self._guard.check(scope["method"], scope["path"], headers, _is_bodiless(headers))
            self._authorize(scope["method"])
            if exchange.method == "HEAD":
                exchange.scope["method"] = "GET"
                await answer_head(self._app, exchange.scope, counted, answered)
            else:
                await self._app(scope, counted, answered)
        except RestError as refused:
            await self._refuse(exchange, refused, answered)
        except asyncio.CancelledError:
            if not exchange.status:
                await self._refuse(
                    exchange, RestError(503, "the broker is stopping", 50303), answered
                )
            raise
        except Exception as unforeseen:
            failure = unforeseen
            if not exchange.status:
                await self._refuse(
                    exchange, RestError(500, "HTTP 500 Internal Server Error"), answered
                )
        finally:
            self._log(exchange, headers, failure)

    def _authorize(self, method: str) -> None:
        """Whoever may use this API may do anything with it, or look at everything."""
        operation = Operation.DESCRIBE if method in SAFE else Operation.ALTER
        authorizer = self._admin.broker.authorizer
        if not authorizer.allows(ANONYMOUS, operation, ResourceType.CLUSTER, CLUSTER_NAME):
            raise RestError(403, f"{ANONYMOUS} may not {operation.value} the cluster", 40301)

    async def _received(self, exchange: Exchange, receive: Receive) -> Message:
        if exchange.is_whole:
            return await receive()
        try:
            async with asyncio.timeout(BODY_PATIENCE_S):
                if exchange.most_body_bytes is None:
                    message = await self._next_of_stream(exchange, receive)
                else:
                    message = await receive()
        except TimeoutError as late:
            raise RestError(408, "the rest of the body does not come") from late
        exchange.is_whole = not message.get("more_body", False)
        return message

    async def _next_of_stream(self, exchange: Exchange, receive: Receive) -> Message:
        """A body that may go on for ever ends when the server does; what is here is taken first,
        and only that: its client may send as fast as it is read.
        """
        if exchange.has_last_piece:
            raise RestError(503, "the broker is stopping", 50303)
        coming = asyncio.ensure_future(receive())
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait((coming, stopping), return_when=asyncio.FIRST_COMPLETED)
            if coming.done():
                exchange.has_last_piece = self._stopping.is_set()
                return coming.result()
        finally:
            coming.cancel()
            stopping.cancel()
        raise RestError(503, "the broker is stopping", 50303)

    async def _refuse(self, exchange: Exchange, error: RestError, send: Send) -> None:
        exchange.error_code = error.code
        answer = JsonAnswer(
            error_body(error.code, error.message, exchange.correlation_id), error.status_code
        )
        # What is left of the body is not waited for.
        answer.headers["connection"] = "close"
        await answer(exchange.scope, _nothing, send)

    def _log(self, exchange: Exchange, headers: dict[str, str], failure: Exception | None) -> None:
        elapsed_ns = perf_counter_ns() - exchange.received_ns
        log = self._admin.request_log
        failed = exchange.failed
        facts: dict[str, object] = {
            "correlation_id": exchange.correlation_id,
            "software": headers.get("user-agent", "")[:200],
            "peer": exchange.peer,
            "listener": "admin",
            "api": exchange.api,
            "path": exchange.path,
            "bytes_in": exchange.bytes_in,
            "bytes_out": exchange.bytes_out,
            "total_us": elapsed_ns // 1000,
            "status": exchange.status,
            "error_codes": exchange.error_codes,
        }
        if exchange.refused:
            facts["refused"] = exchange.refused
        if failure is not None:
            self._admin.events.error("request_failed", **facts, error=failure)
        elif log.includes(elapsed_ns, failed):
            events = self._admin.events
            (events.warning if failed else events.info)("request", **facts)


def _is_bodiless(headers: dict[str, str]) -> bool:
    return headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
