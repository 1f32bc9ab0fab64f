"""Gate: what every request passes on its way to the app, and every response on its way back.

It gives a request its correlation id, checks it with the guard, authenticates its client, limits
its body, writes its line in the log, and responds when the app fails.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from email.utils import formatdate
from time import perf_counter_ns
from typing import Any

from fastapi import FastAPI
from starlette.datastructures import Headers

from interfaces.rest.admin import Admin
from interfaces.rest.authentication import authenticate
from interfaces.rest.errors import RestError
from interfaces.rest.exchange import Exchange
from interfaces.rest.names import routed_path
from interfaces.rest.responses import JsonResponse, error_body
from interfaces.rest.serving.confluent_v2 import refuse_v2
from interfaces.rest.serving.correlation import HEADER, correlation_id_of
from interfaces.rest.serving.cors import origin_headers, with_cors
from interfaces.rest.serving.guard import Guard

#: For the next piece of a body.
BODY_TIMEOUT_S = 30.0

#: A page of another origin cannot embed a response, not even as an image.
_POLICY = (b"cross-origin-resource-policy", b"same-origin")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


class _HeadSent(BaseException):
    """Ends the app of a HEAD request, whose body may have no end. No failure for Starlette."""


class Gate:
    def __init__(self, app: FastAPI, admin: Admin, guard: Guard, stopping: asyncio.Event) -> None:
        config = admin.broker.config
        self._origins = config.access_control_allow_origin
        self._app: App = with_cors(app, self._origins)
        self._admin = admin
        self._guard = guard
        self._stopping = stopping
        self._max_body_bytes = config.admin_request_max_bytes

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        correlation_id = correlation_id_of(headers.get(HEADER))
        state: dict[str, Any] = {}
        scope["state"] = state  # for the log line of a connection that is closed
        # A copy: uvicorn reads the method of its own, to leave out the body for HEAD.
        scope = {**scope, "path": routed_path(scope)}
        admin = self._admin
        exchange = Exchange(
            scope,
            correlation_id,
            self._max_body_bytes,
            self._stopping,
            admin.broker.authorizer,
            admin.refusals,
        )
        state["exchange"] = exchange

        async def limited() -> Message:
            message = await self._received(exchange, receive)
            exchange.bytes_in += len(message.get("body", b""))
            limit = exchange.max_body_bytes
            if limit is not None and exchange.bytes_in > limit:
                raise RestError(413, f"the body is larger than {limit} bytes")
            if limit is None:
                exchange.check_again()
            return message

        async def respond(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                message["headers"] = self._headers(exchange, message.get("headers", ()))
            else:
                exchange.bytes_out += len(message.get("body", b""))
            await send(message)

        async def respond_without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                await respond({"type": "http.response.body", "body": b""})
                raise _HeadSent
            await respond(message)

        failure: Exception | None = None
        try:
            self._check(exchange, headers)
            await authenticate(admin, exchange, headers)
            if exchange.method == "HEAD":
                scope["method"] = "GET"
                await self._app(scope, limited, respond_without_body)
            else:
                await self._app(scope, limited, respond)
        except _HeadSent:
            pass
        except RestError as refused:
            await self._refuse(exchange, refused, receive, respond)
        except asyncio.CancelledError:
            if not exchange.status:
                reason = "the broker is stopping"
                if not self._stopping.is_set():
                    reason = "a snapshot is being restored: repeat the request"
                await self._refuse(exchange, RestError(503, reason, 50303), receive, respond)
            raise
        except Exception as unexpected:
            failure = unexpected
            if not exchange.status:
                internal = RestError(500, "HTTP 500 Internal Server Error")
                await self._refuse(exchange, internal, receive, respond)
        finally:
            self._log(exchange, headers, failure)

    def _check(self, exchange: Exchange, headers: dict[str, str]) -> None:
        """Raises RestError."""
        if "content-length" in headers and "transfer-encoding" in headers:
            # Request smuggling: a proxy may have used the other one.
            exchange.closes = True
            raise RestError(400, "a body has Content-Length or Transfer-Encoding, not both")
        refuse_v2(exchange.method, exchange.path, headers)
        self._guard.check(exchange.method, exchange.path, headers, _is_bodiless(headers))

    def _headers(self, exchange: Exchange, of_app: Any) -> list[tuple[bytes, bytes]]:
        headers = [each for each in of_app if each[0] != _POLICY[0]]
        date = formatdate(self._admin.clock.now_ms() / 1000, usegmt=True)
        headers += [
            _POLICY,
            (b"date", date.encode()),
            (HEADER.encode(), exchange.correlation_id.encode()),
        ]
        if exchange.closes or _withholds_body(exchange):
            headers.append((b"connection", b"close"))
        return headers

    async def _received(self, exchange: Exchange, receive: Receive) -> Message:
        if exchange.is_whole:
            return await receive()
        try:
            async with asyncio.timeout(BODY_TIMEOUT_S):
                if exchange.max_body_bytes is None:
                    message = await self._received_unless_stopping(receive)
                else:
                    message = await receive()
        except TimeoutError as late:
            if exchange.status and exchange.max_body_bytes is not None:
                # The response has begun without the body.
                return {"type": "http.disconnect"}
            exchange.closes = True
            raise RestError(408, "the rest of the body does not come") from late
        exchange.is_whole = not message.get("more_body", False)
        return message

    async def _received_unless_stopping(self, receive: Receive) -> Message:
        """For a body without an end, whose client may send as fast as it is read."""
        receiving = asyncio.ensure_future(receive())
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait((receiving, stopping), return_when=asyncio.FIRST_COMPLETED)
            if receiving.done() and not self._stopping.is_set():
                return receiving.result()
            raise RestError(503, "the broker is stopping", 50303)
        finally:
            receiving.cancel()
            stopping.cancel()

    async def _refuse(
        self, exchange: Exchange, error: RestError, receive: Receive, send: Send
    ) -> None:
        exchange.error_code = error.code
        body = error_body(error.code, error.message, exchange.correlation_id)
        origin = Headers(scope=exchange.scope).get("origin")
        headers = origin_headers(self._origins, origin) | dict(error.headers or {})
        await JsonResponse(body, error.status_code, headers)(exchange.scope, receive, send)

    def _log(self, exchange: Exchange, headers: dict[str, str], failure: Exception | None) -> None:
        now_ns = perf_counter_ns()
        elapsed_ns = now_ns - exchange.received_ns
        log = self._admin.request_log
        failed = exchange.failed
        software = headers.get("user-agent", "")
        if failed or not exchange.is_polling:
            self._admin.requests.add_http(exchange.record(software, now_ns))
        fields: dict[str, object] = {
            "correlation_id": exchange.correlation_id,
            "software": software[:200],
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
            fields["refused"] = exchange.refused
        if failure is not None:
            self._admin.events.error("request_failed", **fields, error=failure)
        elif log.includes(elapsed_ns, failed):
            events = self._admin.events
            (events.warning if failed else events.info)("request", **fields)


def _withholds_body(exchange: Exchange) -> bool:
    """Whether the client has not sent the body: it waits for 100, and gets the response."""
    expects = any(name == b"expect" for name, _ in exchange.scope["headers"])
    return expects and not exchange.bytes_in


def _is_bodiless(headers: dict[str, str]) -> bool:
    return headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
