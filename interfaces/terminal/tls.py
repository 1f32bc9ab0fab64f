"""Whether a server speaks TLS, with any certificate."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress

from interfaces.terminal.addresses import Address

#: The record type of a ServerHello. Plain ports, of Ottla too, may respond with an alert.
_HANDSHAKE = b"\x16"


def speaks_tls(address: Address, timeout_s: float) -> bool:
    try:
        with socket.create_connection(address, timeout_s) as connection:
            connection.sendall(_client_hello())
            return connection.recv(1) == _HANDSHAKE
    except (OSError, ValueError):
        return False


def _client_hello() -> bytes:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    outgoing = ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), outgoing).do_handshake()
    return outgoing.read()
