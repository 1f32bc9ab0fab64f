"""Session: one connection on the loop. It moves bytes and counts memory; `Connection` orders them.

The session stops reading while too many requests are parked, or while the client does not read its
responses. Completed responses leave in one write: at the end of a read, or, when a commit or a
fetch completes them, when the response flusher runs at the end of the pass.
"""

from __future__ import annotations

import asyncio
from functools import partial
from time import perf_counter_ns, time_ns
from typing import cast

from application.ports.pending import Pending
from application.ports.request_log import ClientInfo
from application.ports.scheduler import Timer
from application.security.conversation import NO_SASL
from domain.security.access import Operation, ResourceType
from domain.security.principal import ANONYMOUS
from interfaces.connections.other_protocols import Rejection
from interfaces.kafka.connections.budgets import LargeResponses
from interfaces.kafka.connections.connection import PARKED_BYTES, READ_BUFFER_BYTES, Connection
from interfaces.kafka.connections.rejections import rejection_of, rejection_of_plain
from interfaces.kafka.connections.shared import Shared
from interfaces.kafka.requests.call import Call, CloseConnection
from interfaces.kafka.requests.dispatch import NO_RESPONSE, Begin
from interfaces.kafka.requests.sasl import Sasl
from interfaces.kafka.wire.primitives import MalformedRequest
from interfaces.sockets import plain_address

#: Larger writes are handed to the transport piece by piece: joining them would copy megabytes.
JOIN_BYTES = 64 * 1024


class Session(asyncio.BufferedProtocol):
    sasl: Sasl | None = None  #: None: the listener has no SASL.

    def __init__(self, shared: Shared, connection_id: int, listener: str) -> None:
        self._shared = shared
        self._dispatch = shared.dispatch
        self.begin: Begin = shared.dispatch.begin
        self._response_flusher = shared.response_flusher
        self._response_budget = shared.response_budget
        self.connection = Connection(
            shared.read_buffer, shared.max_frame_bytes, shared.request_accounting.take
        )
        self.get_buffer = self.connection.get_buffer  # type: ignore[method-assign]
        self.broker = shared.broker
        self.client = ClientInfo(connection_id, listener, "")
        self.principal = ANONYMOUS
        self._connected_to = "", 0
        self.raw_client_id, self.prefix_end = b"", 0
        self._transport: asyncio.Transport | None = None
        #: Received, and handed to the transport.
        self.bytes_in = self.bytes_out = 0
        #: Bytes of completed responses, sent or not.
        self._complete_bytes = 0
        self._large_responses = LargeResponses()
        self._serving = self._paused = False
        #: Timers of responses whose throttle time is not over.
        self._throttles: dict[object, Timer] = {}
        self.closing = self._aborted = False
        #: Bytes received and sent when the connection reaper last checked.
        self._checked_bytes = -1
        self.address = ""

    @property
    def advertised(self) -> tuple[str, int]:
        connected = self._connected_to
        return self.broker.config.advertised(self.client.listener, connected[1]) or connected

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

    def buffer_updated(self, nbytes: int) -> None:
        if self.closing:
            return
        self.bytes_in += nbytes
        received_ns = perf_counter_ns()
        connection, budget = self.connection, self._response_budget
        begin, replies = self.begin, connection.replies
        self._serving = True
        try:
            for frame in connection.received(nbytes):
                if budget.spent:
                    connection.park(frame)
                elif connection.may_run(frame):
                    try:
                        begin(frame, self, replies, received_ns)
                    finally:
                        if len(frame) > READ_BUFFER_BYTES:
                            self._release(frame)
            if connection.illegal is not None:
                self._end_illegal(connection.illegal)
            elif connection.needs_bytes:
                self._request_memory()
        except MalformedRequest as malformed:
            self.reject("malformed_request", str(malformed))
        except CloseConnection as failed:
            self.reject(failed.reason, str(failed))
        self._serving = False
        if connection.parked_bytes > PARKED_BYTES:
            self._pause_reading()
        if connection.parked or (replies and replies[0].pieces is not None):
            self.flush()

    def denied(self, call: Call, right: tuple[Operation, ResourceType, str]) -> None:
        self._shared.closing_log.denied(
            call.requester, call.route.title, call.correlation_id, *right
        )

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is None:
            return
        self._transport = None
        self.closing = True
        self.client.forget_long_names()
        for call in self.connection.replies:
            call.route.counts.without_response += 1
            if call.pending is not None:
                call.pending.abandon()
        self.connection.replies.clear()
        for timer in self._throttles.values():
            timer.cancel()
        self._throttles.clear()
        self._release_all()
        self._shared.remove(self)

    def pause_writing(self) -> None:
        self._mute()

    def resume_writing(self) -> None:
        self._unmute()

    # ---- requests

    def completed(self, call: Call) -> None:
        """Called when a response is complete; it is sent after the responses before it."""
        self.connection.running -= 1
        self._complete_bytes += call.bytes_out
        budget = self._response_budget
        budget.used_bytes += call.bytes_out
        if budget.used_bytes > budget.most_bytes:
            self._shared.close_unread()
        if self._serving:
            if self._complete_bytes - self.bytes_out > JOIN_BYTES:
                # Send before the next request runs, so that a full transport mutes a slow reader.
                call.handled_ns = call.completed_ns = perf_counter_ns()
                self._send()
            return
        if call.started_ns:
            call.completed_ns = perf_counter_ns()
        self._response_flusher.add(self)

    def failed(self, call: Call, error: Exception) -> None:
        self._dispatch.log_failure(call, error)
        self.close("internal_error", NO_RESPONSE)

    def throttle(self, throttle_ms: int) -> None:
        """Mutes the connection for the throttle time, as Kafka does (KIP-219).

        The response itself is sent at once.
        """
        key = object()
        self._mute()
        timer = self._shared.scheduler.after_ms(throttle_ms, partial(self._throttle_over, key))
        self._throttles[key] = timer

    def _throttle_over(self, key: object) -> None:
        self._checked_bytes = -1  # the broker paused the connection, so it counts as active
        del self._throttles[key]
        self._unmute()

    def without_sasl(self, correlation_id: int) -> None:
        self._shared.closing_log.unauthenticated(self.client, NO_SASL, "", "", correlation_id)

    def requeue(self, frame: memoryview, loading: Pending[None]) -> None:
        """Parks the request, and all behind it, until the pages that it needs are in memory."""
        self.connection.requeue(frame)
        self._mute()
        loading.then(lambda _: self._unmute())

    def _mute(self) -> None:
        """Stops reading and running requests until each `_mute` has its `_unmute`."""
        self.connection.muted += 1
        self._pause_reading()

    def _unmute(self) -> None:
        self.connection.muted -= 1
        self._response_flusher.add(self)

    # ---- responses

    def flush(self) -> None:
        """Sends completed responses and runs the parked requests that may run then."""
        connection = self.connection
        self._send()
        while connection.parked and self._run_parked():
            self._send()
        if self._paused and not connection.muted and connection.parked_bytes <= PARKED_BYTES:
            self._resume_reading()
        if connection.draining and not connection.running:
            self.close("broker_stopping", expected=True)

    def _run_parked(self) -> bool:
        """Returns True if a parked request ran."""
        connection, budget = self.connection, self._response_budget
        received_ns = 0
        self._serving = True
        try:
            while not (self.closing or budget.spent):
                frame = connection.next_parked()
                if frame is None:
                    break
                received_ns = received_ns or perf_counter_ns()
                try:
                    self.begin(frame, self, connection.replies, received_ns)
                finally:
                    if len(frame) > READ_BUFFER_BYTES:
                        self._release(frame)
        except MalformedRequest as malformed:
            self.reject("malformed_request", str(malformed))
        except CloseConnection as failed:
            self.reject(failed.reason, str(failed))
        self._serving = False
        return received_ns > 0

    def _send(self) -> None:
        transport = self._transport
        if transport is None or self.closing:
            return
        replies = self.connection.replies
        if not replies or replies[0].pieces is None:
            return
        size_bytes, out = self.connection.to_send()
        if not size_bytes:
            return
        self.bytes_out += size_bytes
        if size_bytes <= JOIN_BYTES:
            transport.write(b"".join(out))
        else:
            self._large_responses.written(size_bytes, transport.get_write_buffer_size())
            transport.writelines(out)

    # ---- memory

    def _request_memory(self) -> None:
        self._pause_reading()
        self._shared.memory.take(self.connection.needs_bytes, self._admitted)

    def _admitted(self) -> None:
        self.connection.admit()
        self._checked_bytes = -1  # the client waited for the broker, so it counts as active
        self._response_flusher.add(self)

    def _release(self, frame: memoryview) -> None:
        """Releases the memory of a large request that has run; a requeued one needs it still."""
        parked = self.connection.parked
        if not parked or parked[0] is not frame:
            self._shared.memory.give(len(frame))

    def _release_all(self) -> None:
        memory = self._shared.memory
        if self.connection.needs_bytes:
            memory.forget(self._admitted)
        held = self.connection.large_bytes
        if held:
            memory.give(held)
        self.connection.forget_parked()

    @property
    def unread_bytes(self) -> int:
        """Memory of completed responses that the operating system has not taken as a whole."""
        transport = self._transport
        if transport is None or self._aborted:
            return 0
        left_bytes = transport.get_write_buffer_size()
        held_bytes = left_bytes + self._large_responses.sent_bytes(left_bytes)
        return self._complete_bytes - self.bytes_out + held_bytes

    @property
    def unsent_bytes(self) -> int:
        """Shrinks with each byte that the client reads."""
        transport = self._transport
        if transport is None:
            return 0
        return self._complete_bytes - self.bytes_out + transport.get_write_buffer_size()

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

    # ---- the end

    @property
    def waiting(self) -> bool:
        """The client waits for a response or is throttled, so the connection is not idle."""
        return (self.connection.running > 0 or bool(self._throttles)) and not self.closing

    @property
    def active(self) -> bool:
        """Bytes moved, or memory was granted, since the connection reaper last checked."""
        return self.bytes_in + self.bytes_out != self._checked_bytes

    def mark_checked(self) -> None:
        self._checked_bytes = self.bytes_in + self.bytes_out

    @property
    def in_flight(self) -> int:
        """Received requests without a complete response."""
        return self.connection.in_flight

    def drain(self) -> None:
        """Completes the running requests, begins no others, then closes."""
        self.connection.draining = True
        self._pause_reading()
        if not self.connection.running:
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

    def reject(self, reason: str, detail: str, **more: str) -> None:
        """Closes the connection because of bytes that the client sent."""
        if not self.closing:
            self.client.forget_long_names()
            self._shared.closing_log.rejected(self.client, reason, detail, **more)
            self.close(reason, expected=True)

    def rejection_of_plain(self, first_bytes: bytes) -> Rejection:
        return rejection_of_plain(first_bytes, self._shared.admin_urls(self.advertised[0]))

    def _end_illegal(self, detail: str) -> None:
        urls = self._shared.admin_urls(self.advertised[0])
        is_first = not (self.bytes_out or self.connection.replies)
        other = rejection_of(self.connection.illegal_prefix, urls) if is_first else None
        if other is None:
            self.reject("invalid_request_size", detail)
        elif self._transport is not None and not self.closing:
            self._transport.write(other.response)
            self.reject(other.reason, other.detail, hint=other.hint)
