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
        """About so many bytes, one record in each call of OpenSSL; how many there were."""
        pieces = self._pieces
        done_bytes = 0
        while pieces and done_bytes < most_bytes:
            piece = pieces[0]
            count = tls.write(piece)
            if count < len(piece):
                pieces[0] = memoryview(piece)[count:]
            else:
                pieces.popleft()
            done_bytes += count
        self.size_bytes -= done_bytes
        return done_bytes

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
