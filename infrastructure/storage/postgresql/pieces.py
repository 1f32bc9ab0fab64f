"""Pieces: the entries of a tail that is an object, and what the database knows of each.

Entries of one log that follow each other are joined to pieces of up to a megabyte. Their batches
are in the object, their places in it and in the timestamp index in the database: only a read of
batches asks the object.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from infrastructure.codecs.checksum import crc32c
from infrastructure.storage.postgresql.arrays import bigints, byteas
from infrastructure.storage.postgresql.entries import Entry, newest_time


class Piece(NamedTuple):
    partition_id: int
    last_offset: int
    size_bytes: int
    timestamp: int
    #: Of the timestamp index.
    times: bytes
    #: In the object.
    position: int
    crc: int


class Pieces:
    """Of one object, while it is put together."""

    def __init__(self, most_bytes: int) -> None:
        """Of a piece, unless one entry is larger."""
        self._most_bytes = most_bytes
        self.pieces: list[Piece] = []
        self.data = bytearray()

    def add(self, entries: Iterable[Entry]) -> None:
        """Of one log, in order."""
        joined: list[Entry] = []
        size_bytes = 0
        for entry in entries:
            if joined and size_bytes + len(entry.data) > self._most_bytes:
                self._end(joined)
                joined, size_bytes = [], 0
            joined.append(entry)
            size_bytes += len(entry.data)
        if joined:
            self._end(joined)

    def _end(self, joined: Sequence[Entry]) -> None:
        data = b"".join(one.data for one in joined)
        times = b"".join(one.times for one in joined)
        last = joined[-1]
        self.pieces.append(
            Piece(
                last.partition_id,
                last.last_offset,
                len(data),
                newest_time(times),
                times,
                len(self.data),
                crc32c(data),
            )
        )
        self.data += data


def columns_of(pieces: Sequence[Piece]) -> list[Any]:
    """As in the table, after the number of the tail."""
    return [
        bigints([one.partition_id for one in pieces]),
        bigints([one.last_offset for one in pieces]),
        bigints([one.size_bytes for one in pieces]),
        bigints([one.timestamp for one in pieces]),
        byteas([one.times for one in pieces]),
        bigints([one.position for one in pieces]),
        bigints([one.crc for one in pieces]),
    ]
