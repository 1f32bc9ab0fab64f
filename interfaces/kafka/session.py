"""Session: one connection on the loop. It moves bytes and keeps order; the rest is elsewhere.

Requests run one at a time, as Kafka runs them, so that what a client has done is there when it asks
next. Only Produce requests that follow each other run ahead: they share a commit. What may not run
yet is parked (copied: the read buffer is shared), and when too much is parked, or the client leaves
its answers unread, nothing more is read from it.

Answers are collected and leave in one write: at the end of what was read, or, for those that a
commit or a fetch completes, when the outbox is flushed at the end of the pass.
"""

from __future__ import annotations

import asyncio
from collections import deque
from time import perf_counter_ns
from typing import TYPE_CHECKING, cast

from application.ports.request_log import ClientInfo, RequestRecord
from interfaces.kafka.call import Call, CloseConnection, Peer
from interfaces.kafka.routes import PRODUCE
from interfaces.kafka.wire.connection import Connection
from interfaces.kafka.wire.framing import is_large
from interfaces.kafka.wire.primitives import MalformedRequest
from interfaces.kafka.wire.schema import Response

if TYPE_CHECKING:
    from interfaces.kafka.listener import Shared

#: More than this is not read ahead of a request that is still being answered.
PARKED_BYTES = 128 * 1024
#: Answers that are larger together are handed over piece by piece instead of joined.
JOIN_BYTES = 64 * 1024


class Session(asyncio.BufferedProtocol):
    def __init__(self, shared: Shared, connection_id: int, listener_name: str) -> None:
        self._shared = shared
        self._connection = Connection(shared.read_buffer, shared.max_frame_bytes)
        self._client = ClientInfo(connection_id, listener_name, "")
        self._transport: asyncio.Transport | None = None
        self._parked: deque[memoryview] = deque()
        self._parked_bytes = 0
        self._only_produce = True
        self._serving = False
        self._paused = False
        self._unread = False
        self._closing = False
        self._received_ns = 0
        #: Read or answered since the listener last looked for idle connections.
        self.active = True
        self.address = ""

    # ---- the transport's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        self.address = peer[0] if peer else ""
        self._client.peer = f"{peer[0]}:{peer[1]}" if peer else ""
        refusal = self._shared.connections.refusal(self.address)
        if refusal is not None:
            self._shared.events.warning("connection.refused", peer=self._client.peer, why=refusal)
            self._transport.abort()
            self._transport = None
            return
        self._transport.set_write_buffer_limits(high=self._shared.max_unsent_bytes)
        host, port = self._shared.advertised(self._client.listener, transport)
        self._peer = Peer(self._client, host, port, self.close)
        self._shared.add(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._connection.get_buffer()

    def buffer_updated(self, nbytes: int) -> None:
        self.active = True
        if self._shared.dispatch.timed:
            self._received_ns = perf_counter_ns()
        self._connection.received(nbytes)
        self._serve()
        self.flush()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is None:
            return
        self._transport = None
        self._closing = True
        for reply in self._connection.replies:
            pending = cast(Call, reply).pending
            if pending is not None:
                pending.abandon()
        self._connection.replies.clear()
        self._give_back_memory()
        self._shared.remove(self)

    def pause_writing(self) -> None:
        self._unread = True
        self._pause_reading()

    def resume_writing(self) -> None:
        self._unread = False
        self._shared.outbox.add(self)

    # ---- requests

    def _serve(self) -> None:
        """Runs what has come and may run; parks the rest."""
        self._serving = True
        try:
            self._serve_parked()
            connection = self._connection
            while (frame := connection.next_frame()) is not None:
                if self._parked or self._must_wait(frame):
                    self._park(frame)
                else:
                    self._run(frame)
            if connection.needs_bytes:
                self._ask_for_memory()
        except MalformedRequest as malformed:
            self.close(str(malformed))
        except CloseConnection as refused:
            self.close(str(refused))
        finally:
            self._serving = False

    def _must_wait(self, frame: memoryview) -> bool:
        if self._connection.replies:
            return not self._only_produce or frame[1] != PRODUCE or frame[0] != 0 or self._unread
        return self._unread

    def _run(self, frame: memoryview) -> None:
        try:
            self._begin(frame)
        finally:
            if is_large(frame):
                self._shared.memory.give(len(frame))

    def _begin(self, frame: memoryview) -> None:
        shared = self._shared
        call = shared.dispatch.open(frame, self._peer)
        replies = self._connection.replies
        produces = call.route.api.key == PRODUCE
        self._only_produce = produces and (self._only_produce or not replies)
        replies.append(call)
        if shared.dispatch.timed:
            call.received_ns = self._received_ns
            call.started_ns = call.decoded_ns = perf_counter_ns()
        if call.pieces is None:
            shared.dispatch.run(frame, call)
        if shared.dispatch.timed:
            call.handled_ns = call.answered_ns = perf_counter_ns()
        pending = call.pending
        if pending is not None:
            pending.then(_Answering(self, call).resolved)

    def answered(self, call: Call, response: Response | None) -> None:
        """What a call waited for has come."""
        if self._closing:
            return
        if self._shared.dispatch.timed:
            call.answered_ns = perf_counter_ns()
        self._shared.dispatch.complete(call, response)
        if not self._serving:
            self._shared.outbox.add(self)

    # ---- parked requests

    def _park(self, frame: memoryview) -> None:
        kept = frame if is_large(frame) else memoryview(bytearray(frame))
        self._parked.append(kept)
        self._parked_bytes += len(kept)
        if self._parked_bytes > PARKED_BYTES:
            self._pause_reading()

    def _serve_parked(self) -> None:
        while self._parked and not self._must_wait(self._parked[0]):
            frame = self._parked.popleft()
            self._parked_bytes -= len(frame)
            self._run(frame)

    # ---- answers

    def flush(self) -> None:
        """Sends what is ready, and runs what that lets go on."""
        while not self._closing:
            if self._connection.replies:
                self._send()
            if not self._parked or self._must_wait(self._parked[0]):
                break
            self._serve()
        if self._paused and not self._unread and self._parked_bytes <= PARKED_BYTES:
            self._resume_reading()

    def _send(self) -> None:
        replies = self._connection.replies
        if self._shared.dispatch.timed:
            self._log_ready()
        out = self._connection.ready()
        if not replies:
            self._only_produce = True
        if not out:
            return
        self.active = True
        transport = self._transport
        assert transport is not None
        if len(out) == 1:
            transport.write(out[0])
        elif sum(map(len, out)) <= JOIN_BYTES:
            transport.write(b"".join(out))
        else:
            transport.writelines(out)

    def _log_ready(self) -> None:
        log = self._shared.request_log
        now_ns = perf_counter_ns()
        for reply in self._connection.replies:
            if reply.pieces is None:
                return
            call = cast(Call, reply)
            elapsed_ns = now_ns - call.received_ns
            if call.route.waits_for_data:
                elapsed_ns -= call.answered_ns - call.handled_ns
            if log.wants(elapsed_ns, bool(call.error_codes)):
                log.write(_record(call, now_ns))

    # ---- memory and ends

    def _ask_for_memory(self) -> None:
        self._pause_reading()
        self._shared.memory.take(self._connection.needs_bytes, self._admitted)

    def _admitted(self) -> None:
        self._connection.admit()
        if not self._serving:
            self._shared.outbox.add(self)
        else:
            self._resume_reading()

    def _give_back_memory(self) -> None:
        memory = self._shared.memory
        if self._connection.needs_bytes:
            memory.forget(self._admitted)
        held = self._connection.held_bytes + sum(len(f) for f in self._parked if is_large(f))
        if held:
            memory.give(held)
        self._parked.clear()

    def _pause_reading(self) -> None:
        if not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    def _resume_reading(self) -> None:
        if self._paused and self._transport is not None and not self._connection.needs_bytes:
            self._paused = False
            self._transport.resume_reading()

    @property
    def waiting(self) -> bool:
        """A request is being answered: such a connection is not idle."""
        return bool(self._connection.replies)

    @property
    def mid_frame(self) -> bool:
        return self._connection.mid_frame

    def abort(self) -> None:
        """Ends the connection now, whatever the client has not read yet."""
        if self._transport is not None:
            self._transport.abort()

    def close(self, why: str, level: str = "warning") -> None:
        """Ends the connection; what was answered is still sent."""
        if self._closing or self._transport is None:
            return
        if level == "warning":
            self._shared.events.warning(
                "connection.closed",
                why=why,
                peer=self._client.peer,
                connection_id=self._client.connection_id,
                client_id=self._client.client_id,
            )
        self._send()
        self._closing = True
        self._transport.close()


class _Answering:
    """Takes a pending response to the session that waits for it."""

    __slots__ = ("_call", "_session")

    def __init__(self, session: Session, call: Call) -> None:
        self._session = session
        self._call = call

    def resolved(self, response: Response | None) -> None:
        self._session.answered(self._call, response)


def _record(call: Call, sent_ns: int) -> RequestRecord:
    record = RequestRecord()
    record.client = call.peer.client
    record.api = call.route.api.title
    record.api_version = call.version
    record.correlation_id = call.correlation_id
    record.topics = call.topics
    record.bytes_in = call.bytes_in
    record.bytes_out = call.bytes_out
    record.error_codes = tuple(call.error_codes)
    record.received_ns = call.received_ns
    record.started_ns = call.started_ns
    record.decoded_ns = call.decoded_ns
    record.handled_ns = call.handled_ns
    record.answered_ns = call.answered_ns
    record.sent_ns = sent_ns
    return record
