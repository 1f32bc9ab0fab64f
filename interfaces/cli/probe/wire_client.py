"""One plain connection that speaks Kafka's protocol: for what the client library does not offer.

The library cannot delete committed offsets, does not describe groups of the consumer protocol in
every version, and says little about who is behind a port.
"""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING, Self, TypeVar

from interfaces.kafka.wire.primitives import MalformedRequest
from interfaces.kafka.wire.schema import Request, Response
from interfaces.terminal.addresses import Address

if TYPE_CHECKING:
    from ssl import SSLContext

R = TypeVar("R", bound=Response)

CLIENT_ID = "ottla-cli"
API_VERSIONS = 18
_LENGTH = struct.Struct(">i")
_HEADER = struct.Struct(">hhi")
_LONGEST_ANSWER = 100 << 20


class NoAnswer(Exception):
    """The connection ended, or nothing came, or what came is no answer; `received` came."""

    def __init__(self, why: str, received: bytes = b"") -> None:
        super().__init__(why)
        self.received = received


class TimedOut(NoAnswer):
    """Nothing came, or only a part: the answer may still come from a broker that is slow."""

    def __init__(self, received: bytes = b"") -> None:
        super().__init__("nothing came within the timeout", received)


class WireClient:
    def __init__(self, address: Address, timeout_s: float, tls: SSLContext | None = None) -> None:
        """Raises OSError, SSLError among them."""
        self._socket: socket.socket = socket.create_connection(address, timeout_s)
        if tls is not None:
            try:
                self._socket = tls.wrap_socket(self._socket, server_hostname=address.host)
            except BaseException:
                self._socket.close()
                raise
        self._correlation_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, request: Request, version: int, answer: type[R]) -> R:
        """Raises NoAnswer."""
        self._correlation_id += 1
        try:
            self._socket.sendall(frame(request, version, self._correlation_id))
            body = self._receive()
        except TimeoutError:
            raise TimedOut from None
        except OSError as failure:
            raise NoAnswer((failure.strerror or str(failure)).lower()) from None
        try:
            # The answer to ApiVersions has the old header in every version.
            tagged = answer.is_flexible(version) and answer.api_key != API_VERSIONS
            decoded, _ = answer.decode(version, body, 5 if tagged else 4)
        except (MalformedRequest, struct.error, IndexError):
            raise NoAnswer("what came is no answer of a broker", body) from None
        return decoded

    def _receive(self) -> bytes:
        prefix = self._exactly(4, b"")
        (length,) = _LENGTH.unpack(prefix)
        if not 4 <= length <= _LONGEST_ANSWER:
            raise NoAnswer("what came is no answer of a broker", prefix + self._some())
        body = self._exactly(length, prefix)
        if _LENGTH.unpack_from(body)[0] != self._correlation_id:
            raise NoAnswer("what came is no answer of a broker", prefix + body[:64])
        return body

    def _exactly(self, size: int, before: bytes) -> bytes:
        received = bytearray()
        while len(received) < size:
            try:
                piece = self._socket.recv(size - len(received))
            except TimeoutError:
                raise TimedOut(before + bytes(received)) from None
            if not piece:
                raise NoAnswer("the connection was closed", before + bytes(received))
            received += piece
        return bytes(received)

    def _some(self) -> bytes:
        """What stands behind four bytes that are no length."""
        self._socket.settimeout(0.3)
        try:
            return self._socket.recv(256)
        except OSError:
            return b""


def frame(request: Request, version: int, correlation_id: int) -> bytes:
    client_id = CLIENT_ID.encode()
    payload = b"".join(
        (
            _HEADER.pack(request.api_key, version, correlation_id),
            struct.pack(">h", len(client_id)),
            client_id,
            b"\0" if request.is_flexible(version) else b"",
            *map(bytes, request.encode(version)),
        )
    )
    return _LENGTH.pack(len(payload)) + payload
