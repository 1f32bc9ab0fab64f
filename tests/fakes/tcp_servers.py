"""Servers behind a port, for clients that find out what it is."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from interfaces.kafka.wire.messages.metadata import MetadataResponse, MetadataResponseBroker
from interfaces.kafka.wire.messages.sasl_authenticate import SaslAuthenticateResponse

Serve = Callable[[socket.socket], None]

REFUSED = "Authentication failed: Invalid username or password"
VERSIONS = {0: (0, 13), 1: (0, 18), 3: (0, 13)}
_METADATA, _API_VERSIONS = b"\0\x03", b"\0\x12"
_SASL_HANDSHAKE, _SASL_AUTHENTICATE = b"\0\x11", b"\0\x24"
_SASL_AUTHENTICATION_FAILED = 58
#: Of a listener with PLAIN: the first and last version of each API.
_SASL_VERSIONS = {0: (3, 13), 1: (3, 18), 3: (3, 13), 17: (0, 1), 18: (0, 0), 36: (0, 1)}


@contextmanager
def server(serve: Serve) -> Iterator[str]:
    """Serves one connection after another."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    try:
                        serve(connection)
                    except OSError:
                        pass

        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


def responding(data: bytes) -> Serve:
    def serve(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(data)

    return serve


def http_only(connection: socket.socket) -> None:
    """Responds to HTTP, and is silent otherwise."""
    if b"HTTP" in connection.recv(4096):
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
    else:
        connection.recv(1)


def broker(
    connection: socket.socket,
    nodes: list[str],
    first: bytes = b"",
    versions: Mapping[int, tuple[int, int]] = VERSIONS,
) -> None:
    """Serves ApiVersions and Metadata."""
    request = first or connection.recv(4096)
    while request:
        body = _api_versions(versions)
        if request[4:6] == _METADATA:
            addresses = [node.rpartition(":") for node in nodes]
            brokers = [
                MetadataResponseBroker(node_id=number, host=host, port=int(port))
                for number, (host, _, port) in enumerate(addresses)
            ]
            response = MetadataResponse(brokers=brokers, cluster_id="c", topics=[])
            body = b"".join(map(bytes, response.encode(4)))
        _send(connection, request, body)
        request = connection.recv(4096)


def sasl(
    connection: socket.socket, nodes: list[str] | None = None, mechanism: str = "PLAIN"
) -> None:
    """A listener that refuses every password, or with nodes accepts it."""
    while request := connection.recv(4096):
        key, version = request[4:6], request[6:8]
        if key == _API_VERSIONS:
            # UNSUPPORTED_VERSION has the same body in all later versions.
            error = b"\0\0" if version == b"\0\0" else b"\0\x23"
            body = error + _api_versions(_SASL_VERSIONS)[2:]
        elif key == _SASL_HANDSHAKE:
            name = len(mechanism).to_bytes(2, "big") + mechanism.encode()
            body = (b"\0\0" if request.endswith(name) else b"\0\x21") + b"\0\0\0\1" + name
        elif key == _SASL_AUTHENTICATE:
            refused = SaslAuthenticateResponse(_SASL_AUTHENTICATION_FAILED, REFUSED)
            response = SaslAuthenticateResponse() if nodes else refused
            # The header of flexible versions has tagged fields.
            tags = b"\0" if version == b"\0\2" else b""
            body = tags + b"".join(map(bytes, response.encode(version[1])))
        elif nodes:
            broker(connection, nodes, request)
            return
        else:
            return
        _send(connection, request, body)


def sasl_stalls(connection: socket.socket) -> None:
    request = connection.recv(4096)
    if request[4:6] == _API_VERSIONS:
        broker(connection, [], request)
    else:
        connection.recv(1)


def _api_versions(versions: Mapping[int, tuple[int, int]]) -> bytes:
    rows = ((key, *bounds) for key, bounds in versions.items())
    return (
        b"\0\0"
        + len(versions).to_bytes(4, "big")
        + b"".join(number.to_bytes(2, "big") for row in rows for number in row)
    )


def _send(connection: socket.socket, request: bytes, body: bytes) -> None:
    connection.sendall((len(body) + 4).to_bytes(4, "big") + request[8:12] + body)
