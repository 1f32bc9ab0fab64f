"""Session: one connection on the loop. It moves bytes and counts memory; `Connection` keeps order.

When too much is parked, or the client leaves its answers unread, nothing more is read from it.
Answers are collected and leave in one write: at the end of what was read, or, for those that a
commit or a fetch completes, when the outbox is flushed at the end of the pass.
"""

from __future__ import annotations

import asyncio
from time import perf_counter_ns, time_ns
from typing import cast

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from application.ports.request_log import ClientInfo
from domain.security.principal import ANONYMOUS
from interfaces.kafka.connections.connection import PARKED_BYTES, READ_BUFFER_BYTES, Connection
from interfaces.kafka.connections.other_protocols import rejection_of
from interfaces.kafka.connections.shared import Advertised, Shared, plain_address
from interfaces.kafka.requests.call import Call, CloseConnection
from interfaces.kafka.requests.dispatch import NO_RESPONSE
from interfaces.kafka.wire.primitives import MalformedRequest

#: In place of a frame whose memory is not to be given back.
NOTHING = memoryview(b"")
#: Answers that are larger together are handed over piece by piece instead of joined.
JOIN_BYTES = 64 * 1024


class LargeResponses:
    """The memory of large answers while the transport sends them piece by piece.

    The transport reports what it has left to send. Of an answer that is sent in part, all is in
    memory until the rest is sent.
    """

    __slots__ = ("_largest_bytes", "_written_bytes")

    def __init__(self) -> None:
        #: Since all was sent the last time: together, and the largest.
        self._written_bytes = self._largest_bytes = 0

    def written(self, size_bytes: int, left_bytes: int) -> None:
        """Before it is handed to the transport, which has so much left of earlier ones."""
        if not left_bytes:
            self._written_bytes = self._largest_bytes = 0
        self._written_bytes += size_bytes
        self._largest_bytes = max(self._largest_bytes, size_bytes)

    def sent_bytes(self, left_bytes: int) -> int:
        """At the most so much has been sent and is still in memory."""
        if not left_bytes or not self._largest_bytes:
            return 0
        return min(max(self._written_bytes - left_bytes, 0), self._largest_bytes)


class Session(asyncio.BufferedProtocol):
    def __init__(self, shared: Shared, connection_id: int, advertised: Advertised) -> None:
        self._shared = shared
        self._dispatch = shared.dispatch
        self._response_flusher = shared.response_flusher
        self._response_budget = shared.response_budget
        self.connection = Connection(
            shared.read_buffer, shared.max_frame_bytes, shared.request_accounting.take
        )
        self.get_buffer = self.connection.get_buffer  # type: ignore[method-assign]
        self.broker = shared.broker
        self.client = ClientInfo(connection_id, advertised.name, "")
        self.principal = ANONYMOUS
        self._advertised = advertised
        self.advertised_host, self.advertised_port = "", 0
        self.raw_client_id = b""
        self.prefix_end = 0
        self._transport: asyncio.Transport | None = None
        #: Read, and handed to the system.
        self.bytes_in = self.bytes_out = 0
        #: Of answers that are complete, sent or not.
        self._complete_bytes = 0
        self._large_responses = LargeResponses()
        self._serving = False
        self._paused = False
        #: Responses whose throttle time is not over.
        self._throttles = 0
        self.closing = False
        self._aborted = False
        #: What had been read and sent when the listener last looked for idle connections.
        self._checked_bytes = -1
        self.address = ""

    # ---- the transport's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        peername = transport.get_extra_info("peername")
        if peername is None:  # gone before it was accepted
            self._refuse()
            return
        host, port = peername[:2]
        self.address = plain_address(host)
        self.client.peer = f"{self.address}:{port}"
        self.client.since_ms = time_ns() // 1_000_000
        refusal = self._shared.connections.refusal(self.address)
        if refusal is not None:
            self._shared.closing_log.refused(self.address, *refusal)
            self._refuse()
            return
        self._transport.set_write_buffer_limits(high=self._shared.max_unsent_bytes)
        self.advertised_host, self.advertised_port = self._advertised.address(transport)
        self._shared.add(self)

    def _refuse(self) -> None:
        transport, self._transport = self._transport, None
        self.closing = True
        if transport is not None:
            transport.abort()

    def buffer_updated(self, nbytes: int) -> None:
        if self.closing:
            return
        self.bytes_in += nbytes
        received_ns = perf_counter_ns()
        connection, budget = self.connection, self._response_budget
        begin, replies = self._dispatch.begin, connection.replies
        self._serving = True
        try:
            for frame in connection.received(nbytes):
                if budget.spent:
                    connection.park(frame)
                elif connection.may_run(frame):
                    try:
                        begin(frame, self, replies, received_ns)
                    except NotInMemory as later:
                        self._requeue(frame, later.loading)
                        frame = NOTHING
                    finally:
                        if len(frame) > READ_BUFFER_BYTES:
                            self._shared.memory.give(len(frame))
            if connection.illegal is not None:
                self._end_illegal(connection.illegal)
            elif connection.needs_bytes:
                self._ask_for_memory()
        except MalformedRequest as malformed:
            self._reject("malformed_request", str(malformed))
        except CloseConnection as failed:
            self._reject(failed.reason, str(failed))
        self._serving = False
        if connection.parked_bytes > PARKED_BYTES:
            self._pause_reading()
        if connection.parked or (replies and replies[0].pieces is not None):
            self.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is None:
            return
        self._transport = None
        self.closing = True
        self.client.forget_long_names()
        for call in self.connection.replies:
            call.route.counts.unanswered += 1
            if call.pending is not None:
                call.pending.abandon()
        self.connection.replies.clear()
        self._give_back_memory()
        self._shared.remove(self)

    def pause_writing(self) -> None:
        self._mute()

    def resume_writing(self) -> None:
        self._unmute()

    # ---- requests

    def completed(self, call: Call) -> None:
        """A reply is complete; it leaves in its turn."""
        self.connection.running -= 1
        self._complete_bytes += call.bytes_out
        budget = self._response_budget
        budget.used_bytes += call.bytes_out
        if budget.used_bytes > budget.most_bytes:
            self._shared.relieve()
        if self._serving:
            if self._complete_bytes - self.bytes_out > JOIN_BYTES:
                # Now, not after the requests that follow: whoever does not read is to be noticed.
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
        """Responses are sent meanwhile."""
        self._throttles += 1
        self._mute()
        self._shared.scheduler.after_ms(throttle_ms, self._throttle_over)

    def _throttle_over(self) -> None:
        # Until now it was not the client that kept anybody waiting.
        self._checked_bytes = -1
        self._throttles -= 1
        self._unmute()

    def _requeue(self, frame: memoryview, loading: Pending[None]) -> None:
        """Until what it needs is in memory, it and those behind it are parked."""
        self.connection.requeue(frame)
        self._mute()
        loading.then(lambda _: self._unmute())

    def _mute(self) -> None:
        """Nothing is read or begun, until it is unmuted for each reason."""
        self.connection.muted += 1
        self._pause_reading()

    def _unmute(self) -> None:
        self.connection.muted -= 1
        self._response_flusher.add(self)

    # ---- answers

    def flush(self) -> None:
        """Sends what is ready, and runs what that lets go on."""
        connection = self.connection
        self._send()
        while connection.parked and self._run_parked():
            self._send()
        if self._paused and not connection.muted and connection.parked_bytes <= PARKED_BYTES:
            self._resume_reading()
        if connection.draining and not connection.running:
            self.close("broker_stopping", expected=True)

    def _run_parked(self) -> bool:
        """Whether any could run."""
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
                    self._dispatch.begin(frame, self, connection.replies, received_ns)
                except NotInMemory as later:
                    self._requeue(frame, later.loading)
                    frame = NOTHING
                finally:
                    if len(frame) > READ_BUFFER_BYTES:
                        self._shared.memory.give(len(frame))
        except MalformedRequest as malformed:
            self._reject("malformed_request", str(malformed))
        except CloseConnection as failed:
            self._reject(failed.reason, str(failed))
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

    def _ask_for_memory(self) -> None:
        self._pause_reading()
        self._shared.memory.take(self.connection.needs_bytes, self._admitted)

    def _admitted(self) -> None:
        self.connection.admit()
        # Until now it was not the client that kept anybody waiting.
        self._checked_bytes = -1
        self._response_flusher.add(self)

    def _give_back_memory(self) -> None:
        memory = self._shared.memory
        if self.connection.needs_bytes:
            memory.forget(self._admitted)
        held = self.connection.large_bytes
        if held:
            memory.give(held)
        self.connection.forget_parked()

    @property
    def unread_bytes(self) -> int:
        """Of answers that are complete, and in memory: not sent, or on their way to the system."""
        transport = self._transport
        if transport is None or self._aborted:
            return 0
        left_bytes = transport.get_write_buffer_size()
        held_bytes = left_bytes + self._large_responses.sent_bytes(left_bytes)
        return self._complete_bytes - self.bytes_out + held_bytes

    @property
    def unsent_bytes(self) -> int:
        """Gets less with every byte that the client reads."""
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
        """For a response, or until it is not throttled any more: it is not idle."""
        return (self.connection.running > 0 or self._throttles > 0) and not self.closing

    @property
    def active(self) -> bool:
        """Read, answered or let in since the listener last looked for idle connections."""
        return self.bytes_in + self.bytes_out != self._checked_bytes

    def mark_checked(self) -> None:
        self._checked_bytes = self.bytes_in + self.bytes_out

    @property
    def in_flight(self) -> int:
        """Requests that came as a whole and are not answered."""
        return self.connection.in_flight

    def drain(self) -> None:
        """Answers what runs, begins nothing more, and ends."""
        self.connection.draining = True
        self._pause_reading()
        if not self.connection.running:
            self.close("broker_stopping", expected=True)

    def abort(self, reason: str | None = None) -> None:
        """Ends the connection now, whatever the client has not read yet."""
        if self._transport is None:
            return
        if reason is not None and not self.closing:
            self._shared.closing_log.closed(self.client, reason)
        self.closing = self._aborted = True
        self._transport.abort()

    def close(self, reason: str, detail: str = "", expected: bool = False) -> None:
        """Ends the connection after the complete responses are sent."""
        if self.closing or self._transport is None:
            return
        if not expected:
            self._shared.closing_log.closed(self.client, reason, detail)
        self._send()
        self.closing = True
        self._transport.close()

    def _reject(self, reason: str, detail: str, **more: str) -> None:
        """Ends the connection for what the client sent."""
        if not self.closing:
            self.client.forget_long_names()
            self._shared.closing_log.rejected(self.client, reason, detail, **more)
            self.close(reason, expected=True)

    def _end_illegal(self, detail: str) -> None:
        connection = self.connection
        other = None
        if not self.bytes_out and not connection.replies:
            urls = self._shared.admin_urls(self.advertised_host)
            other = rejection_of(connection.illegal_prefix, urls)
        if other is None:
            self._reject("invalid_request_size", detail)
        elif self._transport is not None and not self.closing:
            self._transport.write(other.answer)
            self._reject(other.reason, other.detail, hint=other.hint)
