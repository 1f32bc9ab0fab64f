"""`ottla raw`: lines as the records of a raw stream, without a client library."""

from __future__ import annotations

import argparse
import os
import socket
import ssl
import sys
from collections.abc import Iterator
from select import select
from struct import iter_unpack, pack

from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.terminal.addresses import addresses

USUAL_PORT = 12000
PRODUCER, CONSUMER = b"\1", b"\2"
_ENDED = "the broker closed the connection: its log has the reason"
_CHUNK_BYTES = 64 * 1024
_WOULD_BLOCK = BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError


def connected(
    address: str, first: bytes, ca: str | None = None, certificate: str | None = None
) -> socket.socket:
    tls = None if ca is None and certificate is None else _tls(ca, certificate)
    try:
        [(host, port)] = addresses(address, USUAL_PORT)
    except ValueError as refusal:
        raise UsageError(f"expected HOST:PORT, not {address!r}: {refusal}") from refusal
    try:
        plain = socket.create_connection((host, port), timeout=10)
        connection = plain if tls is None else tls.wrap_socket(plain, server_hostname=host)
        connection.settimeout(None)
        connection.sendall(first)
    except OSError as failure:
        raise CommandFailed(f"cannot connect to {host}:{port}: {failure}") from failure
    return connection


def _tls(ca: str | None, certificate: str | None) -> ssl.SSLContext:
    path = ca
    try:
        context = ssl.create_default_context(cafile=ca)
        if certificate is not None:
            path = certificate
            context.load_cert_chain(certificate)
    except OSError as failure:
        raise UsageError(f"{path}: {failure.strerror or failure}") from failure
    return context


def records(connection: socket.socket) -> Iterator[bytes]:
    """Until the broker closes the connection. A record that is cut off does not count."""
    with connection, connection.makefile("rb") as stream:
        while len(length := stream.read(4)) == 4:
            size = int.from_bytes(length, "big")
            record = stream.read(size)
            if len(record) == size:
                yield record


def frame(record: bytes) -> bytes:
    return pack(">I", len(record)) + record


def produce(parsed: argparse.Namespace) -> int:
    """Sends lines as they come, and prints positions as they come."""
    with connected(parsed.address, PRODUCER, parsed.ca, parsed.certificate) as connection:
        connection.setblocking(False)
        producing = _Producing(connection, sys.stdin.fileno())
        while producing.step():
            pass
    return 0


class _Producing:
    """Never blocks in one direction.

    A TLS socket may be readable without a position (session tickets), and the broker reads no
    records while the client leaves too many positions unread.
    """

    def __init__(self, connection: socket.socket, lines: int) -> None:
        self._connection = connection
        #: None: all lines are read.
        self._lines: int | None = lines
        self._line = self._unsent = self._positions = b""
        #: Records without a position.
        self._waiting = 0

    def step(self) -> bool:
        """Returns False if each record has its position."""
        connection, reads = self._connection, [self._connection.fileno()]
        if self._lines is not None and not self._unsent:
            reads.append(self._lines)
        readable = select(reads, [connection] if self._unsent else (), ())[0]
        if connection.fileno() in readable:
            self._receive()
        if self._lines in readable:
            self._read(os.read(self._lines, _CHUNK_BYTES))
        if self._unsent:
            self._send()
        return self._lines is not None or self._waiting > 0

    def _receive(self) -> None:
        """All there is: what TLS has decrypted already does not make the socket readable."""
        try:
            while received := self._connection.recv(_CHUNK_BYTES):
                self._positions += received
        except _WOULD_BLOCK:
            self._print()
        except OSError as failure:
            raise CommandFailed(f"cannot receive: {failure}; {_ENDED}") from failure
        else:
            self._print()
            raise CommandFailed(f"records without an offset: {self._waiting}; {_ENDED}")

    def _print(self) -> None:
        whole = len(self._positions) // 8
        for (position,) in iter_unpack(">Q", self._positions[: whole * 8]):
            print(position)
        sys.stdout.flush()
        self._waiting -= whole
        self._positions = self._positions[whole * 8 :]

    def _read(self, data: bytes) -> None:
        *lines, self._line = (self._line + data).split(b"\n")
        if not data:
            self._lines, lines = None, [self._line] if self._line else []
        self._unsent = b"".join(map(frame, lines))
        self._waiting += len(lines)

    def _send(self) -> None:
        try:
            self._unsent = self._unsent[self._connection.send(self._unsent) :]
        except _WOULD_BLOCK:
            return
        except OSError as failure:
            raise CommandFailed(f"cannot send: {failure}; {_ENDED}") from failure


def consume(parsed: argparse.Namespace) -> int:
    start = CONSUMER + pack(">Q", parsed.offset)
    connection = connected(parsed.address, start, parsed.ca, parsed.certificate)
    out = sys.stdout.buffer
    for number, record in enumerate(records(connection), 1):
        out.write(record + b"\n")
        out.flush()
        if number == parsed.count:
            return 0
    raise CommandFailed(_ENDED)
