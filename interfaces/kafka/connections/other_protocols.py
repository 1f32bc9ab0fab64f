"""Clients of other protocols on a Kafka listener, recognised by the first four bytes they send.

Read as the length of a Kafka request, those are hundreds of megabytes, which explains nothing. Each
gets an answer that its own client shows: `curl localhost:9092` prints the admin address, and Java's
client ends with an SslAuthenticationException instead of a timeout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

#: The first four bytes of a request; `PRI ` is HTTP/2 without an upgrade, as gRPC speaks it.
_METHODS = frozenset(
    (b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"OPTI", b"PATC", b"CONN", b"TRAC", b"PRI ")
)
#: A handshake record of SSL 3.0 to TLS 1.3; most clients write 3, 1 for all of them.
_TLS_RECORD = b"\x16\x03"
_TLS_LAST_MINOR = 4
#: Fatal, handshake_failure, which clients of every version understand. Others mislead: librdkafka
#: takes unexpected_message (10) for a missing client certificate.
_TLS_ALERT = bytes((0x15, 3, 1, 0, 2, 2, 40))


class Rejection(NamedTuple):
    #: As in `connection_closed` (application/ports/events.py).
    reason: str
    detail: str
    hint: str
    #: What its client understands.
    answer: bytes


def rejection_of(first_bytes: bytes, admin_urls: Sequence[str]) -> Rejection | None:
    """None: the bytes are of no protocol that is known here."""
    if first_bytes in _METHODS:
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
    answer = (
        b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
        b"Connection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    detail = "the client sent an HTTP request to a Kafka listener"
    return Rejection("http_request", detail, hint, answer)
