"""WireClient: a connection that speaks Kafka's protocol, for what confluent-kafka does not have."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Self, TypeVar

from interfaces.kafka.wire.primitives import MalformedRequest
from interfaces.kafka.wire.schema import Request, Response
from interfaces.terminal.addresses import Address
from interfaces.terminal.profiles import CLIENT_ID
from interfaces.terminal.reachable import BrokerUnreachable, reason_of

if TYPE_CHECKING:
    from ssl import SSLContext

    from interfaces.kafka.wire.messages.api_versions import ApiVersion

R = TypeVar("R", bound=Response)

API_VERSIONS = 18
_LENGTH = struct.Struct(">i")
_HEADER = struct.Struct(">hhi")
_LARGEST_RESPONSE = 100 << 20


class NoResponse(Exception):
    """No response, or bytes that are none; `received` has them."""

    def __init__(self, why: str, received: bytes = b"") -> None:
        super().__init__(why)
        self.received = received


class TimedOut(NoResponse):
    """A slow broker may still respond."""

    def __init__(self, received: bytes = b"") -> None:
        super().__init__("no response within the timeout", received)


class WireClient:
    def __init__(self, address: Address, timeout_s: float, tls: SSLContext | None = None) -> None:
        """Raises OSError, of which SSLError is a kind."""
        self._socket: socket.socket = socket.create_connection(address, timeout_s)
        if tls is not None:
            try:
                self._socket = tls.wrap_socket(self._socket, server_hostname=address.host)
            except BaseException:
                self._socket.close()
                raise
        self._correlation_id = 0
        #: The newest version of each API; after `read_versions`.
        self.versions: dict[int, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def read_versions(self) -> list[ApiVersion]:
        """Of all APIs that are served."""
        from interfaces.kafka.wire.messages.api_versions import (
            ApiVersionsRequest,
            ApiVersionsResponse,
        )

        served = self.send(ApiVersionsRequest(), 0, ApiVersionsResponse).api_keys
        self.versions = {one.api_key: one.max_version for one in served}
        return served

    def wait_up_to(self, timeout_s: float) -> None:
        self._socket.settimeout(timeout_s)

    def send(self, request: Request, version: int, response: type[R]) -> R:
        """Raises NoResponse; SSLError for an alert: TLS 1.3 refuses after the handshake."""
        self._correlation_id += 1
        try:
            self._socket.sendall(_frame(request, version, self._correlation_id))
            body = self._receive()
        except TimeoutError:
            raise TimedOut from None
        except OSError as failure:
            if "ALERT" in (getattr(failure, "reason", None) or ""):  # an SSLError
                raise
            raise NoResponse((failure.strerror or str(failure)).lower()) from None
        try:
            # ApiVersions responses have the old header in every version.
            tagged = response.is_flexible(version) and response.api_key != API_VERSIONS
            decoded, _ = response.decode(version, body, 5 if tagged else 4)
        except (MalformedRequest, struct.error, IndexError):
            raise _not_a_response(body) from None
        return decoded

    def _receive(self) -> bytes:
        prefix = self._exactly(4, b"")
        (length,) = _LENGTH.unpack(prefix)
        if not 4 <= length <= _LARGEST_RESPONSE:
            raise _not_a_response(prefix + self._some())
        body = self._exactly(length, prefix)
        if _LENGTH.unpack_from(body)[0] != self._correlation_id:
            raise _not_a_response(prefix + body[:64])
        return body

    def _exactly(self, size: int, before: bytes) -> bytes:
        received = bytearray()
        while len(received) < size:
            try:
                piece = self._socket.recv(size - len(received))
            except TimeoutError:
                raise TimedOut(before + bytes(received)) from None
            if not piece:
                raise NoResponse("the connection was closed", before + bytes(received))
            received += piece
        return bytes(received)

    def _some(self) -> bytes:
        """The bytes after a prefix that is not a length."""
        self._socket.settimeout(0.3)
        try:
            return self._socket.recv(256)
        except OSError:
            return b""


def first_responding(
    addresses: Sequence[Address], timeout_s: float, tls: SSLContext | None
) -> WireClient:
    """Each broker has its share of the time left: one that hangs still accepts connections.

    Raises BrokerUnreachable.
    """
    reasons: list[str] = []
    until_s = monotonic() + timeout_s
    for count, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
        try:
            client = WireClient(address, max(until_s - monotonic(), 0.01) / count, tls)
            try:
                client.read_versions()
            except BaseException:
                client.close()
                raise
        except (NoResponse, OSError, UnicodeError) as failure:  # the name may have illegal labels
            reasons.append(f"{address}: {reason_of(failure)}")
        else:
            client.wait_up_to(timeout_s)
            return client
    raise BrokerUnreachable(f"no broker at {'; '.join(reasons)}", may_pass=True)


def _not_a_response(received: bytes) -> NoResponse:
    shown = received[:16].decode("ascii", "backslashreplace")
    return NoResponse(f"received {shown!r}, which is not a Kafka response", received)


def _frame(request: Request, version: int, correlation_id: int) -> bytes:
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
