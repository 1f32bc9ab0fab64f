"""The limits of a connection that uvicorn does not have.

uvicorn bounds the head of a request and closes a connection that is idle after a response. It has
no timeout for a connection that sends no request or half a head, none for a client that does not
read its response, and its `limit_concurrency` leaves surplus connections open. Each of them holds
a file descriptor that a Kafka client could need, so they end here.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from application.ports.event_log import EventLog
from domain.security.principal_mapping import NoMatchingRule
from interfaces.rest.admin import TlsIdentity

#: For a whole head of a request, from the start of the connection or the response before.
IDLE_S = 30
#: A client that takes not one byte of its response for so long is disconnected.
STALL_S = 30.0


class BoundedProtocol(H11Protocol):
    def __init__(
        self,
        max_connections: int,
        stopping: asyncio.Event,
        events: EventLog,
        tls: TlsIdentity | None = None,
        **of_uvicorn: Any,
    ) -> None:
        super().__init__(**of_uvicorn)
        self._max_connections = max_connections
        self._stopping = stopping
        self._events = events
        self._tls = tls
        self._idle_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # pause_writing and resume_writing then report every byte that the client has not taken.
        # asyncio's TLS pauses an empty buffer with 0, for ever.
        has_tls = transport.get_extra_info("sslcontext") is not None
        transport.set_write_buffer_limits(high=int(has_tls), low=0)
        if self._tls is not None:
            self._identify(transport, self._tls)
        if len(self.connections) > self._max_connections or self._stopping.is_set():
            transport.abort()
        else:
            self._expect_request()

    def _identify(self, transport: asyncio.Transport, tls: TlsIdentity) -> None:
        certificate = transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
        if not certificate:
            return
        try:
            principal = tls.principal_of(certificate)
        except NoMatchingRule:
            transport.abort()
            return
        app = self.app

        async def with_principal(scope: Any, receive: Any, send: Any) -> None:
            scope["principal"] = principal
            await app(scope, receive, send)

        self.app = with_principal

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        _cancel(self._idle_timer)
        _cancel(self._stall_timer)

    def data_received(self, data: bytes) -> None:
        previous = self.cycle
        super().data_received(data)
        if self.cycle is not previous:
            _cancel(self._idle_timer)

    def on_response_complete(self) -> None:
        completed = self.cycle
        super().on_response_complete()
        if self.cycle is completed:  # no pipelined request has started
            self._expect_request()

    def _expect_request(self) -> None:
        self._idle_timer = self.loop.call_later(IDLE_S, self.timeout_keep_alive_handler)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect_progress()

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._stall_timer)

    def _expect_progress(self) -> None:
        # Nothing more is written before the client has taken all of it.
        unread_bytes = self.transport.get_write_buffer_size()
        self._stall_timer = self.loop.call_later(STALL_S, self._check_progress, unread_bytes)

    def _check_progress(self, unread_bytes: int) -> None:
        if self.transport.get_write_buffer_size() < unread_bytes:
            self._expect_progress()
            return
        about = {}
        if self.cycle is not None:
            exchange = self.cycle.scope["state"]["exchange"]
            about = {"correlation_id": exchange.correlation_id, "api": exchange.api}
        self._events.warning(
            "connection_closed",
            reason="slow_reader",
            listener="admin",
            peer="{}:{}".format(*(self.client or ("", ""))),
            **about,
            waited_seconds=STALL_S,
        )
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """uvicorn's own gives no reason, and fails when a response has started."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        if self.cycle is not None:
            self.cycle.disconnected = True  # its app must not respond a second time
        super().send_400_response(f"{msg} {sys.exception() or ''}".rstrip())


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
