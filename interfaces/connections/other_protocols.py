"""Detects by its first bytes that a client speaks another protocol than its listener.

The broker responds in the client's own protocol: `curl localhost:9092` prints the admin address,
and Java's client fails with SslAuthenticationException instead of a timeout.
"""

from __future__ import annotations

from typing import NamedTuple

#: Enough to tell the protocols apart. As the length of a Kafka request they would mean hundreds of
#: megabytes.
FIRST_BYTES = 4
#: The first four bytes of an HTTP request; gRPC sends `PRI ` (HTTP/2 without an upgrade).
_METHODS = frozenset(
    (b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"OPTI", b"PATC", b"CONN", b"TRAC", b"PRI ")
)
#: A handshake record of SSL 3.0 to TLS 1.3; most clients send 3, 1 for all of them.
_TLS_RECORD = b"\x16\x03"
_TLS_LAST_MINOR = 4
#: A fatal handshake_failure, which all TLS versions understand. librdkafka reports
#: unexpected_message (10) as a missing client certificate.
TLS_ALERT = bytes((0x15, 3, 1, 0, 2, 2, 40))


class Rejection(NamedTuple):
    #: As in `connection_closed` (application/ports/events.py). Empty: it is not logged.
    reason: str
    detail: str
    hint: str
    #: In the client's own protocol.
    response: bytes = b""


def is_http(first_bytes: bytes) -> bool:
    return first_bytes in _METHODS


def is_tls(first_bytes: bytes) -> bool:
    return first_bytes[:2] == _TLS_RECORD and first_bytes[2:3] <= bytes((_TLS_LAST_MINOR,))


def http_response(status: str, text: str, *headers: str) -> bytes:
    """The whole response, and the last of its connection."""
    body = f"{text}\n".encode()
    head = (
        f"HTTP/1.1 {status}",
        *headers,
        "Content-Type: text/plain; charset=utf-8",
        "Connection: close",
        f"Content-Length: {len(body)}",
    )
    return "".join(f"{line}\r\n" for line in (*head, "")).encode() + body
