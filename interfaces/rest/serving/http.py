"""The HTTP server: uvicorn on the broker's loop, started and stopped by the broker.

`uvicorn.Server.serve` is not used: it takes over the signals and wakes up ten times a second.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
from functools import partial
from typing import Any, cast

import uvicorn

from interfaces.connections.tls import ListenerTls, TlsConnection
from interfaces.rest.admin import Admin
from interfaces.rest.serving.app import create_app, make_ready
from interfaces.rest.serving.gate import Gate
from interfaces.rest.serving.guard import Guard, allowed_hosts
from interfaces.rest.serving.protocol import IDLE_S, BoundedProtocol

#: Of the request line and all headers.
MAX_HEAD_BYTES = 64 * 1024


class UvicornServer:
    """Implements interfaces.rest.serving.server.HttpServer."""

    def __init__(self, admin: Admin, hosts: list[str]) -> None:
        config = admin.broker.config
        logging.getLogger("uvicorn.error").disabled = True
        self._stopping = asyncio.Event()
        app = create_app(admin, admin.testing is not None)
        make_ready(app)
        guard = Guard(hosts, allowed_hosts(config), config.access_control_allow_origin)
        protocol: Any = partial(BoundedProtocol, admin, self._stopping)
        if admin.tls is not None:
            protocol = partial(_over_tls, admin, ListenerTls(admin.tls), protocol)
        of_uvicorn = uvicorn.Config(
            Gate(app, admin, guard, self._stopping),
            http=protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=IDLE_S,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
        of_uvicorn.load()
        self._server = uvicorn.Server(of_uvicorn)
        self._server.lifespan = of_uvicorn.lifespan_class(of_uvicorn)

    async def serve(self, listening: list[socket.socket]) -> None:
        # What was imported lives for ever: see docs/internals/adr/0004.
        gc.freeze()
        await self._server.startup(listening)

    async def drain(self, timeout_seconds: float) -> bool:
        self._stopping.set()
        self._server.config.timeout_graceful_shutdown = cast(int, timeout_seconds)
        await self._server.shutdown()
        cancelled = set(self._server.server_state.tasks)
        if cancelled:
            await asyncio.wait(cancelled)
        for connection in list(self._server.server_state.connections):
            connection.transport.abort()
        return not cancelled

    async def end_requests(self) -> bool:
        others = self._server.server_state.tasks - {asyncio.current_task()}
        if others:
            await asyncio.sleep(0)  # a task that has not run would end without a response
        for task in others:
            task.cancel()  # then uvicorn closes its connection
        if others:
            await asyncio.wait(others)
        return bool(others)


def _over_tls(admin: Admin, tls: ListenerTls, protocol: Any, **of_uvicorn: Any) -> TlsConnection:
    return TlsConnection(protocol(**of_uvicorn), admin.handshakes, tls)
