"""Detects clients of other protocols on a Kafka listener by their first four bytes.

As the length of a Kafka request these bytes would mean hundreds of megabytes. The broker responds
in the client's own protocol: `curl localhost:9092` prints the admin address, and Java's client
fails with SslAuthenticationException instead of a timeout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

#: The first four bytes of an HTTP request; gRPC sends `PRI ` (HTTP/2 without an upgrade).
_METHODS = frozenset(
    (b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"OPTI", b"PATC", b"CONN", b"TRAC", b"PRI ")
)
#: A handshake record of SSL 3.0 to TLS 1.3; most clients send 3, 1 for all of them.
_TLS_RECORD = b"\x16\x03"
_TLS_LAST_MINOR = 4
#: A fatal handshake_failure, which all TLS versions understand. librdkafka reports
#: unexpected_message (10) as a missing client certificate.
_TLS_ALERT = bytes((0x15, 3, 1, 0, 2, 2, 40))


class Rejection(NamedTuple):
    #: As in `connection_closed` (application/ports/events.py).
    reason: str
    detail: str
    hint: str
    #: In the client's own protocol.
    response: bytes


def is_http(first_bytes: bytes) -> bool:
    return first_bytes in _METHODS


def rejection_of(first_bytes: bytes, admin_urls: Sequence[str]) -> Rejection | None:
    """None if the bytes belong to no known protocol."""
    if is_http(first_bytes):
        return _http(admin_urls)
    if first_bytes[:2] == _TLS_RECORD and first_bytes[2] <= _TLS_LAST_MINOR:
        return Rejection(
            "tls_handshake",
            "the client began a TLS handshake, and this listener is PLAINTEXT",
            "set security.protocol=PLAINTEXT in the client",
            _TLS_ALERT,
        )
    return None


def _http(admin_urls: Sequence[str]) -> Rejection:
    hint = (
        f"HTTP is served at {', '.join(admin_urls)}"
        if admin_urls
        else "HTTP is off in this broker (admin.listeners)"
    )
    body = f"This port serves the Kafka protocol, not HTTP. {hint}\n".encode()
    response = (
        b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
        b"Connection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    detail = "the client sent an HTTP request to a Kafka listener"
    return Rejection("http_request", detail, hint, response)
