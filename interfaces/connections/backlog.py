"""Backlog: what a session has sent and OpenSSL has not encrypted yet."""

from __future__ import annotations

import ssl
from collections import deque
from collections.abc import Iterable, Iterator

Bytes = bytes | bytearray | memoryview

#: The largest TLS record; smaller pieces are joined.
RECORD_BYTES = 16 * 1024


class Backlog:
    __slots__ = ("_pieces", "size_bytes")

    def __init__(self) -> None:
        self._pieces: deque[Bytes] = deque()
        self.size_bytes = 0

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def add(self, pieces: Iterable[Bytes]) -> None:
        for piece in _joined(pieces):
            self._pieces.append(piece)
            self.size_bytes += len(piece)

    def encrypt(self, tls: ssl.SSLObject, most_bytes: int) -> int:
        """At most so many bytes of the first piece; how many there were."""
        piece = self._pieces.popleft()
        if len(piece) > most_bytes:
            whole = memoryview(piece)
            self._pieces.appendleft(whole[most_bytes:])
            piece = whole[:most_bytes]
        self.size_bytes -= len(piece)
        return tls.write(piece)

    def clear(self) -> None:
        self._pieces.clear()
        self.size_bytes = 0


def _joined(pieces: Iterable[Bytes]) -> Iterator[Bytes]:
    """Each piece is a record at least: small ones are joined."""
    small: list[Bytes] = []
    for piece in pieces:
        if len(piece) < RECORD_BYTES:
            if piece:
                small.append(piece)
            continue
        if small:
            yield b"".join(small)
            small = []
        yield piece
    if small:
        yield b"".join(small)
