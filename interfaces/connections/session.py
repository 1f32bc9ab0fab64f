"""LimitedSession: a connection within the limits of all connections, whatever its protocol.

It is counted and may be refused, is not read while it is muted or waits for memory, and is closed
with a line in the log. The protocols above it decide what is received and sent.
"""

from __future__ import annotations

import asyncio
from functools import partial
from time import time_ns
from typing import cast

from application.ports.pending import Pending
from application.ports.request_log import ClientInfo
from application.ports.scheduler import Timer
from domain.security.principal import ANONYMOUS
from interfaces.connections.framing import Framing
from interfaces.connections.limits import ConnectionLimits
from interfaces.connections.other_protocols import Rejection
from interfaces.sockets import plain_address


class LimitedSession(asyncio.BufferedProtocol):
    connection: Framing

    def __init__(self, shared: ConnectionLimits, connection_id: int, listener: str) -> None:
        self._shared = shared
        self._response_flusher = shared.response_flusher
        self.broker = shared.broker
        self.client = ClientInfo(connection_id, listener, "")
        self.principal = ANONYMOUS
        self._connected_to = "", 0
        self._transport: asyncio.Transport | None = None
        #: Received, and handed to the transport.
        self.bytes_in = self.bytes_out = 0
        self._paused = False
        #: Timers of throttle times that are not over.
        self._throttles: dict[object, Timer] = {}
        #: What its first parked request needs, until it is in memory.
        self._loading: Pending[None] | None = None
        self.closing = self._aborted = False
        #: Bytes received and sent when the connection reaper last checked.
        self._checked_bytes = -1
        self.address = ""

    # ---- the transport's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        peername = transport.get_extra_info("peername")
        if peername is None:  # the client disconnected before the accept
            self._refuse()
            return
        host, port = peername[:2]
        self.address = plain_address(host)
        self.client.peer = f"{self.address}:{port}"
        self.client.since_ms = time_ns() // 1_000_000
        socket = transport.get_extra_info("socket")
        descriptor = -1 if socket is None else socket.fileno()
        if refusal := self._shared.connections.refusal(self.address, descriptor):
            self._shared.closing_log.refused(self.address, *refusal)
            self._refuse()
            return
        if refused_ms := self.broker.connection_rates.refused_ms(self.address):
            detail = f"the quota connection_creation_rate of {self.address} is exceeded"
            self._shared.closing_log.refused(self.address, "connection_creation_rate", detail)
            self._refuse(refused_ms)
            return
        self._transport.set_write_buffer_limits(high=self._shared.max_unsent_bytes)
        host, port = transport.get_extra_info("sockname")[:2]
        self._connected_to = plain_address(host), port
        self._shared.add(self)
        if wait_ms := self.broker.connection_rates.wait_ms():
            self.throttle(wait_ms)

    def _refuse(self, after_ms: int = 0) -> None:
        transport, self._transport = self._transport, None
        self.closing = True
        if transport is not None:
            self._shared.delayed_closing.close_after(transport, after_ms)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is None:
            return
        self._transport = None
        self.closing = True
        self.client.forget_long_names()
        self._end()
        for timer in self._throttles.values():
            timer.cancel()
        self._throttles.clear()
        if self._loading is not None:
            self._loading.abandon()
        self._release_all()
        self._shared.remove(self)

    def _end(self) -> None:
        """The connection is lost: its protocol gives up what it has begun."""

    def rejection_of_plain(self, first_bytes: bytes) -> Rejection:
        """Of a client that does not use TLS."""
        raise NotImplementedError

    def pause_writing(self) -> None:
        self._mute()

    def resume_writing(self) -> None:
        self._unmute()

    # ---- muting

    def throttle(self, throttle_ms: int) -> None:
        """Mutes the connection for the throttle time, as Kafka does (KIP-219)."""
        key = object()
        self._mute()
        timer = self._shared.scheduler.after_ms(throttle_ms, partial(self._throttle_over, key))
        self._throttles[key] = timer

    def _throttle_over(self, key: object) -> None:
        self._checked_bytes = -1  # the broker paused the connection, so it counts as active
        del self._throttles[key]
        self._unmute()

    def _mute_until(self, loading: Pending[None]) -> None:
        self._mute()
        self._loading = loading
        loading.then(self._loaded)

    def _loaded(self, _: None) -> None:
        self._checked_bytes = -1  # the client waited for the broker, so it counts as active
        self._loading = None
        self._unmute()

    def _mute(self) -> None:
        """Stops reading and beginning until each `_mute` has its `_unmute`."""
        self.connection.muted += 1
        self._pause_reading()

    def _unmute(self) -> None:
        self.connection.muted -= 1
        self._response_flusher.add(self)

    def flush(self) -> None:
        """At the end of a pass: sends what is complete, and continues if it is not muted."""
        raise NotImplementedError

    def _pause_reading(self) -> None:
        if not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    def _resume_reading(self) -> None:
        connection = self.connection
        if self._transport is None or self.closing or connection.draining:
            return
        if not connection.needs_bytes:
            self._paused = False
            self._transport.resume_reading()

    # ---- memory

    def _request_memory(self) -> None:
        self._pause_reading()
        self._shared.memory.take(self.connection.needs_bytes, self._admitted)

    def _admitted(self) -> None:
        self.connection.admit()
        self._checked_bytes = -1  # the client waited for the broker, so it counts as active
        self._response_flusher.add(self)

    def _release_all(self) -> None:
        memory = self._shared.memory
        if self.connection.needs_bytes:
            memory.forget(self._admitted)
        held = self.connection.large_bytes
        if held:
            memory.give(held)
        self.connection.forget_partial()

    @property
    def unread_bytes(self) -> int:
        """Memory of responses that the operating system has not taken as a whole."""
        return 0 if self._aborted else self.unsent_bytes

    @property
    def unsent_bytes(self) -> int:
        """Shrinks with each byte that the client reads."""
        transport = self._transport
        return 0 if transport is None else transport.get_write_buffer_size()

    # ---- the end

    @property
    def active(self) -> bool:
        """Bytes moved, or memory was granted, since the connection reaper last checked."""
        return self.bytes_in + self.bytes_out != self._checked_bytes

    def mark_checked(self) -> None:
        self._checked_bytes = self.bytes_in + self.bytes_out

    @property
    def running(self) -> int:
        """What has begun and has no complete response."""
        raise NotImplementedError

    @property
    def in_flight(self) -> int:
        """What was received and has no complete response."""
        return self.running

    @property
    def waiting(self) -> bool:
        """The client waits for a response or is throttled, so the connection is not idle."""
        return (self.running > 0 or bool(self._throttles)) and not self.closing

    @property
    def loads(self) -> bool:
        """The first parked request waits for the store. Nothing is read, not even the end."""
        return self._loading is not None

    def drain(self) -> None:
        """Completes what has begun, begins nothing else, then closes."""
        self.connection.draining = True
        self._pause_reading()
        if not self.running:
            self.close("broker_stopping", expected=True)

    def abort(self, reason: str | None = None) -> None:
        """Closes the connection at once and drops unsent responses."""
        if self._transport is None:
            return
        if reason is not None and not self.closing:
            self._shared.closing_log.closed(self.client, reason)
        self.closing = self._aborted = True
        self._transport.abort()

    def close(self, reason: str, detail: str = "", expected: bool = False) -> None:
        """Closes the connection after the completed responses are sent."""
        if self.closing or self._transport is None:
            return
        if not expected:
            self._shared.closing_log.closed(self.client, reason, detail)
        self._send()
        self.closing = True
        self._transport.close()

    def _send(self) -> None:
        """Sends completed responses."""

    def reject(self, reason: str, detail: str, **more: str) -> None:
        """Closes the connection because of bytes that the client sent. Without a reason: no log."""
        if not self.closing:
            self.client.forget_long_names()
            if reason:
                self._shared.closing_log.rejected(self.client, reason, detail, **more)
            self.close(reason, expected=True)
