"""The HTTP server itself: uvicorn's protocol on our loop, with our bounds and our end.

Of uvicorn only what speaks HTTP is used. Its own server polls ten times a second, takes the
signals, and waits at the end in steps; this one is told.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
import sys

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from application.ports.event_log import EventLog
from application.ports.request_log import RequestLog
from interfaces.rest.admin import Admin
from interfaces.rest.serving.app import create_app, make_ready
from interfaces.rest.serving.gate import Gate
from interfaces.rest.serving.guard import Guard
from interfaces.rest.serving.lingering import LingeringTransport
from interfaces.rest.serving.stalls import StallWatch
from interfaces.rest.serving.unreadable import Unreadable

#: A connection that has not sent a whole head of a request in this time is closed.
ARRIVAL_S = 30
#: A connection that is cut ends in this time, which is the loop's alone.
ABORT_S = 1.0
#: Of the request line and all headers.
HEADERS_BYTES = 64 * 1024


class UvicornServer:
    """Implements interfaces.rest.serving.server.HttpServer."""

    def __init__(self, admin: Admin, hosts: list[str]) -> None:
        config = admin.broker.config
        logging.getLogger("uvicorn.error").disabled = True
        self._stopping = asyncio.Event()
        #: Set with every connection that ends.
        self._lost = asyncio.Event()
        app = create_app(admin)
        make_ready(app)
        self._config = uvicorn.Config(
            Gate(app, admin, Guard(hosts, config.admin_allowed_hosts), self._stopping),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=ARRIVAL_S,
            h11_max_incomplete_event_size=HEADERS_BYTES,
        )
        self._config.load()
        self._state = ServerState()
        self._events = admin.events
        self._request_log = admin.request_log
        self._most = config.admin_max_connections
        self._servers: list[asyncio.Server] = []

    async def serve(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        if not self._servers:
            # What was imported lives for ever: see docs/adr/0004.
            gc.freeze()
        self._servers.append(await loop.create_server(self._protocol, sock=listening))

    def _protocol(self) -> BoundedProtocol:
        return BoundedProtocol(
            self._config,
            self._state,
            self._most,
            self._stopping,
            self._lost,
            self._events,
            self._request_log,
        )

    async def drain(self, timeout_seconds: float) -> bool:
        deadline = asyncio.get_running_loop().time() + timeout_seconds
        self._stopping.set()
        for server in self._servers:
            server.close()
        connections, tasks = self._state.connections, self._state.tasks
        for connection in list(connections):
            connection.shutdown()
        late: set[asyncio.Task[None]] = set()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=timeout_seconds)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)
        for connection in list(connections):
            connection.transport.close()
        if not await self._all_gone(deadline):
            for connection in list(connections):
                connection.transport.abort()
            await self._all_gone(deadline + ABORT_S)
        return not late

    async def _all_gone(self, deadline: float) -> bool:
        """Until what was answered is with the clients too, and every connection has ended."""
        try:
            async with asyncio.timeout_at(deadline):
                while self._state.connections:
                    await self._lost.wait()
                    self._lost.clear()
        except TimeoutError:
            return False
        return True


class BoundedProtocol(H11Protocol):
    """One connection, of so many at the most."""

    def __init__(
        self,
        config: uvicorn.Config,
        state: ServerState,
        most: int,
        stopping: asyncio.Event,
        lost: asyncio.Event,
        events: EventLog,
        request_log: RequestLog,
    ) -> None:
        super().__init__(config, state, {})
        self._events = events
        self._request_log = request_log
        self._most = most
        self._stopping = stopping
        self._lost = lost
        self._arrival: asyncio.TimerHandle | None = None
        self._watch: StallWatch | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        ours = LingeringTransport(self.loop, transport, self._is_sending)
        self._ours = ours
        super().connection_made(ours)  # type: ignore[arg-type]
        # For an answer without an end whose client does not read.
        self.app_state["abort"] = transport.abort
        if len(self.connections) > self._most or self._stopping.is_set():
            transport.abort()
            return
        self._expect_request()
        self._watch = StallWatch(self.loop, ours, self._stalled)

    def _stalled(self, seconds: float) -> None:
        facts: dict[str, object] = {}
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            exchange = cycle.scope["state"].get("exchange")
            if exchange is not None:
                facts = {"correlation_id": exchange.correlation_id, "api": exchange.api}
        self._events.warning(
            "connection_closed",
            reason="slow_reader",
            listener="admin",
            peer="{}:{}".format(*(self.client or ("", ""))),
            **facts,
            waited_seconds=seconds,
        )

    def _expect_request(self) -> None:
        """uvicorn waits as long for an idle connection, and for ever for half a head."""
        self._arrival = self.loop.call_later(ARRIVAL_S, self.timeout_keep_alive_handler)

    def _is_sending(self) -> bool:
        return self.conn.their_state is h11.SEND_BODY

    def data_received(self, data: bytes) -> None:
        if self._ours.is_lingering:
            return
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._request_is_here()

    def on_response_complete(self) -> None:
        done = self.cycle
        super().on_response_complete()
        if self.cycle is done:  # else the next request was here already
            self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._request_is_here()
        if self._watch is not None:
            self._watch.stop()
        self._lost.set()

    def _request_is_here(self) -> None:
        if self._arrival is not None:
            self._arrival.cancel()
            self._arrival = None

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is answered as everything else that is refused."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            # An answer has begun, or is whole: another one in it or behind it would be read as it.
            (self.transport.close if self.conn.our_state is h11.DONE else self.transport.abort)()
            return
        asked = None
        if self.conn.our_state is h11.SEND_RESPONSE:
            self.cycle.disconnected = True  # what was asked is answered no more
            self.cycle.message_event.set()
            exchange = self.cycle.scope["state"].get("exchange")
            asked = exchange and exchange.correlation_id  # the gate writes its line
        unreadable = Unreadable(msg, sys.exception())
        correlation_id = asked or unreadable.log(self._request_log, self._events, self.client)
        self.transport.write(unreadable.answer(correlation_id))
        self.transport.close()
