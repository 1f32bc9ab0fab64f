"""What speaks behind a port, told by the first bytes it says."""

from __future__ import annotations

#: Beginnings of what servers say to somebody whom they do not understand, or before anything.
_BEGINNINGS = (
    (b"HTTP/", "an HTTP server"),
    (b"<!DOCTYPE", "an HTTP server"),
    (b"<html", "an HTTP server"),
    (b"\x15\x03", "a TLS server"),
    (b"\x16\x03", "a TLS server"),
    (b"SSH-", "an SSH server"),
    (b"220", "a mail or FTP server"),
    (b"+OK", "a POP3 server"),
    (b"* OK", "an IMAP server"),
    (b"-ERR", "Redis"),
    (b"-DENIED", "Redis"),
    (b"AMQP", "an AMQP broker"),
    (b"INFO {", "NATS"),
    (b"RFB ", "a VNC server"),
)
TLS = "a TLS server"
HTTP = "an HTTP server"
_MYSQL = 0x0A
#: Of what a Kafka listener of Ottla answers to an HTTP request.
_OTTLA = b"This port serves the Kafka protocol"


def speaker(received: bytes) -> str | None:
    """Who says that; None: it cannot be told."""
    if _OTTLA in received:
        return None
    for beginning, who in _BEGINNINGS:
        if received.lower().startswith(beginning.lower()):
            return who
    # Its greeting: a length of three bytes, number 0, protocol version 10, a version in text.
    if len(received) > 8 and received[3] == 0 and received[4] == _MYSQL and received[5:6].isdigit():
        return "MySQL"
    if received[:1] == b"E" and b"FATAL" in received:
        return "PostgreSQL"
    return None
