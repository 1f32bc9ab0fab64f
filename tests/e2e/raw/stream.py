"""The raw stream over one socket: written from docs/raw.md, without Ottla's code."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import accumulate, islice
from typing import Self

PATIENCE_S = 30.0


class Stream(AbstractContextManager["Stream"]):
    first = b""

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        connected = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        if tls is not None:
            connected = tls.wrap_socket(connected, server_hostname="127.0.0.1")
        self.socket = connected
        self.incoming = connected.makefile("rb")
        connected.sendall(self.first)

    def exactly(self, size: int) -> bytes:
        data = self.incoming.read(size)
        assert len(data) == size, f"the connection ended after {len(data)} of {size} bytes"
        return data

    def rest(self) -> bytes:
        """What comes before the broker closes the connection."""
        return self.incoming.read()

    def end_sending(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self.incoming.close()
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        self.close()


class Producer(Stream):
    first = b"\x01"

    def send(self, *records: bytes) -> None:
        self.socket.sendall(b"".join(map(framed, records)))

    def offsets(self, count: int) -> list[int]:
        return list(struct.unpack(f">{count}Q", self.exactly(8 * count)))

    def produce(self, *records: bytes) -> list[int]:
        self.send(*records)
        return self.offsets(len(records))


class Consumer(Stream):
    def __init__(self, port: int, start: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self.first = b"\x02" + struct.pack(">Q", start)
        super().__init__(port, tls)

    def record(self) -> bytes:
        (size,) = struct.unpack(">I", self.exactly(4))
        return self.exactly(size)

    def __iter__(self) -> Iterator[bytes]:
        while True:
            yield self.record()

    def records(self, count: int) -> list[bytes]:
        return list(islice(self, count))


def framed(record: bytes) -> bytes:
    return struct.pack(">I", len(record)) + record


def positions(records: Sequence[bytes], first: int = 0) -> list[int]:
    """Of each record, and of the end."""
    return list(accumulate((4 + len(record) for record in records), initial=first))
