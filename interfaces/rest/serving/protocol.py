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

from application.ports.request_log import ClientInfo
from domain.security.principal import ANONYMOUS, Principal
from interfaces.connections.other_protocols import FIRST_BYTES, Rejection, is_tls
from interfaces.connections.tls import READ_BYTES
from interfaces.rest.admin import Admin
from interfaces.rest.serving.rejections import TLS_TO_PLAIN, rejection_of_plain
from interfaces.sockets import plain_address

#: For a whole head of a request, from the start of the connection or the response before.
IDLE_S = 30
#: A client that takes not one byte of its response for so long is disconnected.
STALL_S = 30.0


#: Decrypted bytes of one read.
_read_buffer = memoryview(bytearray(READ_BYTES))


class BoundedProtocol(H11Protocol):
    """With TLS it is the session above it: interfaces.connections.secured_session."""

    def __init__(self, admin: Admin, stopping: asyncio.Event, **of_uvicorn: Any) -> None:
        super().__init__(**of_uvicorn)
        self._admin = admin
        self._stopping = stopping
        self._principal = ANONYMOUS
        #: No byte was received.
        self._is_new = True
        self._idle_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # pause_writing and resume_writing then report every byte that the client has not taken.
        transport.set_write_buffer_limits(high=0, low=0)
        most = self._admin.broker.config.admin_max_connections
        if len(self.connections) > most or self._stopping.is_set():
            transport.abort()
            return
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        _cancel(self._idle_timer)
        _cancel(self._stall_timer)
        if self.cycle is not None:
            exchange = self.cycle.scope["state"].get("exchange")
            if exchange is not None:
                exchange.closing = True

    def data_received(self, data: bytes) -> None:
        if self._is_new:
            self._is_new = False
            if is_tls(data[:FIRST_BYTES]):
                self.transport.write(TLS_TO_PLAIN.response)
                self.reject(*TLS_TO_PLAIN[:2], hint=TLS_TO_PLAIN.hint)
                return
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
        self._admin.events.warning(
            "connection_closed",
            reason="slow_reader",
            listener="admin",
            peer=self.peer,
            **about,
            waited_seconds=STALL_S,
        )
        self.transport.abort()

    # ---- above TLS

    @property
    def principal(self) -> Principal:
        return self._principal

    @principal.setter
    def principal(self, principal: Principal) -> None:
        """Of the client's certificate."""
        self._principal, app = principal, self.app

        async def with_principal(scope: Any, receive: Any, send: Any) -> None:
            scope["principal"] = principal
            await app(scope, receive, send)

        self.app = with_principal

    @property
    def address(self) -> str:
        return "" if self.client is None else plain_address(self.client[0])

    @property
    def peer(self) -> str:
        return f"{self.address}:{0 if self.client is None else self.client[1]}"

    @property
    def closing(self) -> bool:
        return self.transport.is_closing()

    def get_buffer(self, sizehint: int) -> memoryview:
        return _read_buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(bytes(_read_buffer[:nbytes]))

    def rejection_of_plain(self, first_bytes: bytes) -> Rejection:
        return rejection_of_plain(first_bytes)

    def reject(self, reason: str, detail: str, **more: str) -> None:
        if self.closing:
            return
        if reason:
            client = ClientInfo(0, "admin", self.peer)
            self._admin.refusals.rejected(client, reason, detail, listener="admin", **more)
        self.transport.close()

    def abort(self) -> None:
        self.transport.abort()

    # ----

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
