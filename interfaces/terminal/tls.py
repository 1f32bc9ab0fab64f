"""TLS by the options of librdkafka; and whether a server speaks TLS, with any certificate."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress

from interfaces.terminal.addresses import Address

#: The record type of a ServerHello. Plain ports, of Ottla too, may respond with an alert.
_HANDSHAKE = b"\x16"


def tls_context(options: Mapping[str, str]) -> ssl.SSLContext:
    """Raises OSError for files that cannot be used."""
    authority = options.get("ssl.ca.location")
    if authority == "probe":  # where the system has them
        authority = None
    is_folder = authority is not None and os.path.isdir(authority)
    context = ssl.create_default_context(
        cafile=None if is_folder else authority,
        capath=authority if is_folder else None,
        cadata=options.get("ssl.ca.pem"),
    )
    verify = options.get("enable.ssl.certificate.verification", "true") == "true"
    if not verify or options.get("ssl.endpoint.identification.algorithm") == "none":
        context.check_hostname = False
    if not verify:
        context.verify_mode = ssl.CERT_NONE
    if "ssl.certificate.location" in options:
        context.load_cert_chain(
            options["ssl.certificate.location"],
            options.get("ssl.key.location"),
            options.get("ssl.key.password"),
        )
    return context


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
