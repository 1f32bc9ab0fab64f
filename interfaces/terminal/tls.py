"""Whether TLS is spoken at an address, with whichever certificate."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress

from interfaces.terminal.addresses import Address

#: The type of a record that carries a ServerHello. An alert alone is what plain ports of Ottla and
#: of others answer to a ClientHello.
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
