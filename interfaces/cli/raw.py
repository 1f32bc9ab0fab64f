"""`ottla raw`: lines as the records of a raw stream, without a client library."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Iterator
from select import select
from struct import iter_unpack, pack

from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.terminal.addresses import addresses

USUAL_PORT = 12000
PRODUCER, CONSUMER = b"\1", b"\2"
_ENDED = "the broker closed the connection: its log has the reason"
_RECEIVE_BYTES = 64 * 1024


def connected(address: str, first: bytes, ca: str | None = None) -> socket.socket:
    try:
        [(host, port)] = addresses(address, USUAL_PORT)
    except ValueError as refusal:
        raise UsageError(f"expected HOST:PORT, not {address!r}: {refusal}") from refusal
    try:
        plain = socket.create_connection((host, port), timeout=10)
        connection = plain if ca is None else _with_tls(plain, host, ca)
        connection.settimeout(None)
        connection.sendall(first)
    except OSError as failure:
        raise CommandFailed(f"cannot connect to {host}:{port}: {failure}") from failure
    return connection


def _with_tls(plain: socket.socket, host: str, ca: str) -> socket.socket:
    import ssl

    return ssl.create_default_context(cafile=ca).wrap_socket(plain, server_hostname=host)


def records(connection: socket.socket) -> Iterator[bytes]:
    """Until the broker closes the connection."""
    with connection, connection.makefile("rb") as stream:
        while len(length := stream.read(4)) == 4:
            yield stream.read(int.from_bytes(length, "big"))


def frame(record: bytes) -> bytes:
    return pack(">I", len(record)) + record


def produce(parsed: argparse.Namespace) -> int:
    """Sends lines as they come, and prints positions as they come."""
    with connected(parsed.address, PRODUCER, parsed.ca) as connection:
        lines: int | None = sys.stdin.fileno()
        sent, rest, positions = 0, b"", b""
        while lines is not None or sent:
            ready = select([connection, *(() if lines is None else (lines,))], (), ())[0]
            if connection in ready:
                received = connection.recv(_RECEIVE_BYTES)
                if not received:
                    raise CommandFailed(f"{sent} records have no position: {_ENDED}")
                positions += received
                whole = len(positions) // 8
                for (position,) in iter_unpack(">Q", positions[: whole * 8]):
                    print(position)
                sys.stdout.flush()
                sent, positions = sent - whole, positions[whole * 8 :]
            if lines is not None and lines in ready:
                data = os.read(lines, _RECEIVE_BYTES)
                *whole_lines, rest = (rest + data).split(b"\n")
                if not data:
                    lines, whole_lines = None, [rest] if rest else []
                try:
                    connection.sendall(b"".join(map(frame, whole_lines)))
                except OSError as failure:
                    raise CommandFailed(f"cannot send: {failure}; {_ENDED}") from failure
                sent += len(whole_lines)
    return 0


def consume(parsed: argparse.Namespace) -> int:
    start = CONSUMER + pack(">Q", parsed.offset)
    out = sys.stdout.buffer
    for number, record in enumerate(records(connected(parsed.address, start, parsed.ca)), 1):
        out.write(record + b"\n")
        out.flush()
        if number == parsed.count:
            return 0
    raise CommandFailed(_ENDED)
