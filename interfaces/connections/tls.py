"""TlsConnection: TLS between a socket and a session, of the Kafka protocol or of HTTP.

To the socket it is the protocol, to the session the transport. The session is there from the
accept, so that all limits of connections count it; it gets bytes once the handshake is complete.

Responses stay as they are until the socket has room: they are encrypted in slices, a few in each
pass of the loop, so that neither a large response nor a slow reader holds the loop or needs its
memory twice. What OpenSSL buffers is bounded by the size of a read and of a slice.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from typing import Any, Protocol, cast

from application.ports.scheduler import Timer
from domain.security.principal import Principal
from domain.security.principal_mapping import NoMatchingRule
from interfaces.connections.backlog import Backlog, Bytes
from interfaces.connections.handshakes import Handshakes
from interfaces.connections.other_protocols import FIRST_BYTES
from interfaces.connections.secured_session import SecuredSession
from interfaces.connections.tls_failures import (
    HANDSHAKE_FAILED,
    HANDSHAKE_RECORD,
    HANDSHAKE_TIMEOUT,
    rejection_of_failure,
)

#: The client ended its side of the connection properly.
CLOSED = "closed"

#: Encrypted bytes of one read; and what OpenSSL gets before the socket does.
READ_BYTES = SLICE_BYTES = 32 * 1024
#: Encrypted for one connection in one pass of the loop.
PASS_BYTES = 256 * 1024
#: The most that the socket may have unsent; the rest is not encrypted yet.
UNSENT_BYTES = 256 * 1024


class TlsIdentity(Protocol):
    """The certificates of a listener; they may be renewed."""

    @property
    def context(self) -> ssl.SSLContext: ...

    def principal_of(self, certificate: bytes) -> Principal:
        """Of a client with this certificate (DER). Raises NoMatchingRule."""
        ...


#: Of connections without a handshake: nothing is written into it.
_NONE = ssl.MemoryBIO()


class ListenerTls:
    """What all TLS connections of a listener share."""

    __slots__ = ("identity", "read_buffer")

    def __init__(self, identity: TlsIdentity) -> None:
        self.identity = identity
        #: Empty between two reads.
        self.read_buffer = memoryview(bytearray(READ_BYTES))


class TlsConnection(asyncio.BufferedProtocol, asyncio.Transport):
    __slots__ = (
        "_backlog", "_blocked", "_closing", "_early", "_end", "_established", "_handshakes",
        "_high_bytes", "_incoming", "_listener", "_muted", "_outgoing", "_reading", "_scheduled",
        "_scheduler", "_session", "_slot", "_socket", "_socket_reads", "_timer", "_tls",
    )  # fmt: skip

    def __init__(
        self, session: SecuredSession, handshakes: Handshakes, listener: ListenerTls
    ) -> None:
        super().__init__()
        self._session: SecuredSession | None = session
        self._listener = listener
        self._handshakes = handshakes
        self._scheduler = handshakes.scheduler
        self._socket: asyncio.Transport | None = None
        self._tls: ssl.SSLObject | None = None
        self._incoming = self._outgoing = _NONE
        self._established = False
        #: Of `handshakes`: it waits, or has one, or neither.
        self._slot: bool | None = None
        self._timer: Timer | None = None
        #: The first bytes of a connection that waits.
        self._early = b""
        #: The session reads; and the socket is read, which a handshake may stop too.
        self._reading = self._socket_reads = True
        #: Of the session, not encrypted yet.
        self._backlog = Backlog()
        self._high_bytes = UNSENT_BYTES
        #: The socket has too many unsent bytes.
        self._blocked = False
        #: The session has too many, here and in the socket.
        self._muted = False
        self._scheduled = False
        self._closing = False
        #: Why no further requests can be read: CLOSED, or the failure.
        self._end: str | None = None

    # ---- the socket's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        session = self._session
        assert session is not None
        self._socket = cast(asyncio.Transport, transport)
        session.connection_made(self)
        if session.closing:
            return
        handshakes = self._handshakes
        self._timer = self._scheduler.after_ms(handshakes.timeout_ms, self._late)
        self._slot = False
        handshakes.take(session.address, self._start)

    def _start(self) -> None:
        self._slot = True
        if self._early:
            self._scheduler.soon(self._continue)

    def _continue(self) -> None:
        early, self._early = self._early, b""
        if not self._closing and self._session is not None:
            self._read_socket(True)
            self._feed(early)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._listener.read_buffer

    def buffer_updated(self, nbytes: int) -> None:
        if self._closing or self._end or self._session is None or self._session.closing:
            return
        received = self._listener.read_buffer[:nbytes]
        if self._slot is False:
            self._early += received
            self._read_socket(False)
        else:
            self._feed(received)

    def _feed(self, received: Bytes) -> None:
        if self._tls is None and not self._begin(received):
            return
        self._incoming.write(received)
        if self._established:
            self._deliver()
        elif not self._handshakes.step(self._shake_hands):
            self._read_socket(False)

    def eof_received(self) -> bool:
        if self._tls is not None and not self._established and self._session is not None:
            detail = "the client closed the connection during the handshake"
            hint = "clients do so when they do not trust the certificate of the broker"
            self._session.reject(HANDSHAKE_FAILED, detail, hint=hint)
        return self._end == CLOSED and not self._closing

    def connection_lost(self, exc: Exception | None) -> None:
        session, self._session = self._session, None
        self._end_handshake(session)
        self._socket = self._tls = None
        self._incoming = self._outgoing = _NONE
        self._closing = True
        self._backlog.clear()
        if session is not None:
            session.connection_lost(exc)

    def pause_writing(self) -> None:
        self._blocked = True

    def resume_writing(self) -> None:
        self._blocked = False
        self._encrypt()

    # ---- the handshake

    def _begin(self, received: Bytes) -> bool:
        """Returns False if the client does not use TLS."""
        session = self._session
        assert session is not None
        if received[0] != HANDSHAKE_RECORD:
            other = session.rejection_of_plain(bytes(received[:FIRST_BYTES]))
            if other.response and self._socket is not None:
                self._socket.write(other.response)
            session.reject(other.reason, other.detail, hint=other.hint)
            return False
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = self._listener.identity.context.wrap_bio(
            self._incoming, self._outgoing, server_side=True
        )
        return True

    def _shake_hands(self) -> None:
        session, tls = self._session, self._tls
        if session is None or tls is None or session.closing or self._established:
            return
        try:
            tls.do_handshake()
        except ssl.SSLWantReadError:
            self._flush()
            self._read_socket(True)
            return
        except (ssl.SSLError, ssl.CertificateError, ValueError) as failure:
            self._flush()
            refused = rejection_of_failure(failure)
            session.reject(refused.reason, refused.detail, hint=refused.hint)
            return
        self._flush()
        self._established = True
        self._end_handshake(session)
        if certificate := tls.getpeercert(binary_form=True):
            try:
                session.principal = self._listener.identity.principal_of(certificate)
            except NoMatchingRule as failure:
                session.reject(HANDSHAKE_FAILED, str(failure))
                return
        self._read_socket(self._reading)
        self._deliver()

    def _end_handshake(self, session: SecuredSession | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        slot, self._slot = self._slot, None
        if session is not None and slot is not None:
            if slot:
                self._handshakes.give(session.address)
            else:
                self._handshakes.forget(session.address, self._start)

    def _late(self) -> None:
        self._timer = None
        session = self._session
        if session is not None:
            waited = "" if self._slot else " while others were in progress"
            detail = f"no complete handshake in {self._handshakes.timeout_ms} ms{waited}"
            session.reject(HANDSHAKE_TIMEOUT, detail)
            session.abort()

    # ---- requests

    def _deliver(self) -> None:
        """Decrypts while the session reads: each time as much as it has room for."""
        session, tls = self._session, self._tls
        if session is None or tls is None:
            return
        while self._end is None and self._reading and not session.closing and self._received(tls):
            count = self._decrypt(tls, session.get_buffer(-1))
            if count:
                session.buffer_updated(count)
            else:
                break
        self._flush()
        if self._end == CLOSED:
            if not session.eof_received() and self._socket is not None:
                self._closing = True
                self._socket.close()
        elif self._end is not None:
            session.reject("malformed_tls", self._end)

    def _received(self, tls: ssl.SSLObject) -> bool:
        return self._incoming.pending > 0 or tls.pending() > 0

    def _decrypt(self, tls: ssl.SSLObject, buffer: memoryview) -> int:
        filled = 0
        try:
            while filled < len(buffer) and self._received(tls):
                count = cast(int, tls.read(len(buffer) - filled, buffer[filled:]))
                if not count:
                    self._end = CLOSED
                    break
                filled += count
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as failure:
            self._end = (failure.reason or str(failure)).lower().replace("_", " ")
        return filled

    # ---- the session's side: a transport

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        if name == "sslcontext":  # by which servers of HTTP know that a connection has TLS
            return self._listener.identity.context
        return default if self._socket is None else self._socket.get_extra_info(name, default)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high_bytes = UNSENT_BYTES if high is None else high
        if self._socket is not None:
            self._socket.set_write_buffer_limits(high=min(self._high_bytes, UNSENT_BYTES))

    def get_write_buffer_size(self) -> int:
        """What the client has not got: not encrypted, or not sent."""
        socket = self._socket
        sent_bytes = 0 if socket is None else socket.get_write_buffer_size()
        return self._backlog.size_bytes + sent_bytes

    def pause_reading(self) -> None:
        """A handshake goes on meanwhile."""
        self._reading = False
        if self._established:
            self._read_socket(False)

    def resume_reading(self) -> None:
        self._reading = True
        if self._established:
            self._read_socket(True)
            if self._tls is not None and self._received(self._tls):
                self._scheduler.soon(self._deliver)

    def _read_socket(self, reads: bool) -> None:
        socket = self._socket
        if socket is None or self._closing or reads == self._socket_reads:
            return
        self._socket_reads = reads
        if reads:
            socket.resume_reading()
        else:
            socket.pause_reading()

    def write(self, data: Bytes) -> None:
        self.writelines((data,))

    def writelines(self, list_of_data: Iterable[Any]) -> None:
        if self._closing or not self._established:
            return
        self._backlog.add(list_of_data)
        if not (self._scheduled or self._blocked):
            self._encrypt()
        session = self._session
        if self._muted or session is None:
            return
        if self.get_write_buffer_size() > self._high_bytes:
            self._muted = True
            session.pause_writing()

    def close(self) -> None:
        """Closes the connection once everything is sent."""
        self._read_socket(False)
        self._closing = True
        if not self._backlog:
            self._finish()

    def abort(self) -> None:
        self._closing = True
        self._backlog.clear()
        if self._socket is not None:
            self._socket.abort()

    def is_closing(self) -> bool:
        return self._closing

    # ---- responses

    def _encrypt(self) -> None:
        """Hands what the socket takes to it, not more in this pass than others can wait for."""
        self._scheduled = False
        tls, socket = self._tls, self._socket
        if tls is None or socket is None:
            return
        left_bytes = PASS_BYTES
        try:
            while self._backlog and left_bytes > 0 and not self._blocked:
                left_bytes -= self._backlog.encrypt(tls, SLICE_BYTES)
                socket.write(self._outgoing.read())
        except ssl.SSLError:  # the client sent an alert: no more can be sent
            self.abort()
            return
        if self._blocked:
            return
        if self._backlog:
            self._scheduled = True
            self._scheduler.soon(self._encrypt)
            return
        if self._muted and self._session is not None:
            self._muted = False
            self._session.resume_writing()
        if self._closing:
            self._finish()

    def _flush(self) -> None:
        """What OpenSSL sends by itself: handshakes, alerts."""
        if self._outgoing.pending and self._socket is not None:
            self._socket.write(self._outgoing.read())

    def _finish(self) -> None:
        if self._established and self._tls is not None:
            try:
                self._tls.unwrap()  # says that the connection ends; the client need not respond
            except ssl.SSLError:
                pass
            self._flush()
        if self._socket is not None:
            self._socket.close()
