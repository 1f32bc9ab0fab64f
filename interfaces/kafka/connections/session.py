"""Session: one connection on the loop. It moves bytes and counts memory; `Connection` orders them.

The session stops reading while too many requests are parked, or while the client does not read its
responses. Completed responses leave in one write: at the end of a read, or, when a commit or a
fetch completes them, when the response flusher runs at the end of the pass.
"""

from __future__ import annotations

from time import perf_counter_ns

from application.ports.pending import Pending
from application.security.conversation import NO_SASL
from domain.security.access import Operation, ResourceType
from interfaces.connections.budgets import LargeResponses
from interfaces.connections.framing import READ_BUFFER_BYTES
from interfaces.connections.other_protocols import Rejection
from interfaces.connections.session import LimitedSession
from interfaces.kafka.connections.connection import PARKED_BYTES, Connection
from interfaces.kafka.connections.rejections import rejection_of, rejection_of_plain
from interfaces.kafka.connections.shared import Shared
from interfaces.kafka.requests.call import Call, CloseConnection
from interfaces.kafka.requests.dispatch import NO_RESPONSE, Begin
from interfaces.kafka.requests.sasl import Sasl
from interfaces.kafka.wire.primitives import MalformedRequest

#: Larger writes are handed to the transport piece by piece: joining them would copy megabytes.
JOIN_BYTES = 64 * 1024


class Session(LimitedSession):
    sasl: Sasl | None = None  #: None: the listener has no SASL.

    def __init__(self, shared: Shared, connection_id: int, listener: str) -> None:
        super().__init__(shared, connection_id, listener)
        self._shared: Shared = shared
        self._dispatch = shared.dispatch
        self.begin: Begin = shared.dispatch.begin
        self._response_budget = shared.response_budget
        self.connection: Connection = Connection(
            shared.read_buffer, shared.max_frame_bytes, shared.request_accounting.take
        )
        self.get_buffer = self.connection.get_buffer  # type: ignore[method-assign]
        self.raw_client_id, self.prefix_end = b"", 0
        #: Bytes of completed responses, sent or not.
        self._complete_bytes = 0
        self._large_responses = LargeResponses()
        self._serving = False

    @property
    def advertised(self) -> tuple[str, int]:
        connected = self._connected_to
        return self.broker.config.advertised(self.client.listener, connected[1]) or connected

    # ---- the transport's side

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

    def _end(self) -> None:
        for call in self.connection.replies:
            call.route.counts.without_response += 1
            if call.pending is not None:
                call.pending.abandon()
        self.connection.replies.clear()

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

    def without_sasl(self, correlation_id: int) -> None:
        self._shared.closing_log.unauthenticated(self.client, NO_SASL, "", "", correlation_id)

    def requeue(self, frame: memoryview, loading: Pending[None]) -> None:
        """Parks the request, and all behind it, until the pages that it needs are in memory."""
        self.connection.requeue(frame)
        self._mute_until(loading)

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

    def _release(self, frame: memoryview) -> None:
        """Releases the memory of a large request that has run; a requeued one needs it still."""
        parked = self.connection.parked
        if not parked or parked[0] is not frame:
            self._shared.memory.give(len(frame))

    def _release_all(self) -> None:
        super()._release_all()
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

    # ---- the end

    @property
    def running(self) -> int:
        return self.connection.running

    @property
    def in_flight(self) -> int:
        """Received requests without a complete response."""
        return self.connection.in_flight

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
