"""RawSession: one raw connection, of a producer or of a consumer.

The protocol has no errors: what fails closes the connection, with a line in the log. A client may
end its side of the connection: a producer still gets its responses, a consumer its records.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter_ns

from application.ports.log_store import NotInMemory
from application.ports.request_log import Requester
from application.streams.service import StreamService
from application.streams.stream import InvalidStart, RawStream
from domain.errors import BrokerError
from domain.security.access import Operation, ResourceType
from interfaces.connections.framing import is_large
from interfaces.connections.limits import ConnectionLimits
from interfaces.connections.other_protocols import Rejection
from interfaces.connections.session import LimitedSession
from interfaces.raw.connection import CONSUMER, RawConnection, position_bytes


class RawSession(LimitedSession):
    def __init__(
        self, shared: ConnectionLimits, connection_id: int, listener: str, streams: StreamService
    ) -> None:
        super().__init__(shared, connection_id, listener)
        self.connection: RawConnection = RawConnection(
            shared.read_buffer, self.broker.config.message_max_bytes
        )
        self.get_buffer = self.connection.get_buffer  # type: ignore[method-assign]
        self._streams = streams
        self._stream: RawStream | None = None
        #: Payloads that wait until the stream can be used.
        self._waiting: list[bytes | memoryview] = []
        #: Records without a position yet, and positions that are not sent.
        self._unplaced = 0
        self._positions: list[bytes] = []
        #: A record has no position: those of later ones would be taken for its own.
        self._is_refused = False
        #: Of the next record for a consumer.
        self._offset: int | None = None
        self._ended = False

    # ---- the transport's side

    def buffer_updated(self, nbytes: int) -> None:
        connection = self.connection
        if self.closing or connection.draining:
            return
        self.bytes_in += nbytes
        payloads = connection.received(nbytes)
        if payloads:
            self._append(payloads, nbytes)
            if is_large(payloads[0]):
                self._shared.memory.give(len(payloads[0]))
        if connection.illegal is not None:
            self._fail("malformed_request", connection.illegal)
        elif connection.needs_bytes:
            self._request_memory()
        elif connection.role == CONSUMER:
            self._send_records()

    def eof_received(self) -> bool:
        self._ended = True
        self._response_flusher.add(self)
        return True

    def _end(self) -> None:
        if self._stream is not None:
            self._stream.unfollow(self)

    def _fail(self, reason: str, detail: str) -> None:
        """Closes the connection once all that was appended has its position."""
        if not (self.closing or self.connection.draining):
            self._shared.closing_log.rejected(self.client, reason, detail)
            self.drain()

    def rejection_of_plain(self, first_bytes: bytes) -> Rejection:
        detail = "the client does not use TLS, and this listener does"
        return Rejection("not_tls", detail, "connect with TLS")

    # ---- the stream

    def _opened(self, operation: Operation) -> RawStream | None:
        """None: it is not ready yet, or the connection is closed."""
        by = Requester(self.principal, None, self.client.peer)
        resource = ResourceType.TOPIC, self._streams.topic_name
        if not self.broker.authorizer.allows(self.principal, self.address, operation, *resource):
            self._shared.closing_log.denied(by, "Raw", 0, operation, *resource)
            self.close("authorization_denied", expected=True)
            return None
        if self._stream is None:
            self._stream = self._streams.open(by)
        return self._stream

    def flush(self) -> None:
        """At the end of a pass: sends positions, and continues unless it is muted."""
        self._send()
        connection = self.connection
        if self.closing or connection.muted:
            return
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._append(waiting, sum(map(len, waiting)))
        elif connection.role == CONSUMER:
            self._send_records()
        if self._paused and not connection.muted:
            self._resume_reading()
        over = connection.draining or (self._ended and connection.start is None)
        if over and not self.running:
            self.close("ended", expected=True)

    # ---- a producer

    @property
    def running(self) -> int:
        return self._unplaced + len(self._waiting)

    def _append(self, payloads: Sequence[bytes | memoryview], size_bytes: int) -> None:
        begun_ns = perf_counter_ns()
        if self.connection.muted:
            self._waiting += map(bytes, payloads)
            return
        try:
            stream = self._opened(Operation.WRITE)
            if stream is None:
                return
            stream.append(payloads, self)
        except NotInMemory as later:
            self._waiting = list(map(bytes, payloads))
            self._mute_until(later.loading)
        except BrokerError as refused:
            self._fail("record_refused", str(refused))
        else:
            self._count(perf_counter_ns() - begun_ns, produced_bytes=size_bytes)

    def staged(self, count: int) -> None:
        self._unplaced += count

    def placed(self, count: int, positions: Sequence[int] | BrokerError) -> None:
        self._unplaced -= count
        if isinstance(positions, BrokerError):
            self._is_refused = True
            self._fail("record_refused", str(positions))
        elif not self._is_refused:
            self._positions.append(position_bytes(positions))
        self._response_flusher.add(self)

    def _send(self) -> None:
        if self._positions and self._transport is not None and not self.closing:
            positions, self._positions = self._positions, []
            self._write(positions, sum(map(len, positions)))

    # ---- a consumer

    @property
    def waiting(self) -> bool:
        """A consumer waits for records; one that has ended its side may be gone."""
        follows = self._offset is not None and not self._ended
        return super().waiting or (follows and not self.closing)

    def advanced(self) -> None:
        self._response_flusher.add(self)

    def _send_records(self) -> None:
        start = self.connection.start
        if start is None or self.connection.muted or self.closing:
            return
        try:
            stream = self._opened(Operation.READ)
            if stream is None:
                return
            if self._offset is None:
                self._offset = stream.locate(start)
            if self._offset is None:
                stream.follow(self)
                return
            begun_ns = perf_counter_ns()
            block = stream.read(self._offset)
            if block.next_offset == self._offset:
                stream.follow(self)
                return
        except NotInMemory as later:
            self._mute_until(later.loading)
        except InvalidStart as invalid:
            self._fail("invalid_start", str(invalid))
        except BrokerError as refused:
            self._fail("stream_ended", str(refused))
        else:
            if not self._count(perf_counter_ns() - begun_ns, fetched_bytes=block.size_bytes):
                self._offset = block.next_offset
                self._write(block.pieces, block.size_bytes)
                self._response_flusher.add(self)

    # ---- both

    def _count(self, thread_ns: int, produced_bytes: int = 0, fetched_bytes: int = 0) -> bool:
        """For the quotas of the client; True if it is throttled."""
        quotas = self.broker.quotas
        if quotas.unlimited:
            return False
        throttle_ms = quotas.count(self.principal, None, thread_ns, produced_bytes, fetched_bytes)
        if throttle_ms:
            self.throttle(throttle_ms)
        return throttle_ms > 0

    def _write(self, pieces: list[bytes], size_bytes: int) -> None:
        transport, budget = self._transport, self._shared.response_budget
        if transport is None:
            return
        transport.writelines(pieces)
        self.bytes_out += size_bytes
        budget.used_bytes += size_bytes
        if budget.used_bytes > budget.most_bytes:
            self._shared.close_unread()
