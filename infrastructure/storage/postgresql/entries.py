"""Entries: up to a megabyte of batches of one log, with their places in the timestamp index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import NamedTuple

from application.ports.log_store import NOT_INDEXED, IndexEntry
from domain.messages.batch import HEADER_BYTES, last_offset_of
from infrastructure.storage.lmdb.entries import batches_of

#: A timestamp, and the last offset of its batch.
TIME = Struct(">qq")
#: Larger ones take a statement longer than several of this size.
MOST_ENTRY_BYTES = 1 << 20


class Entry(NamedTuple):
    partition_id: int
    last_offset: int
    #: Of the timestamp index, in order: TIME.
    times: bytes
    data: bytes
    #: Of the batches.
    headers: bytes


class Growing:
    """An entry that gets further batches."""

    __slots__ = ("_batches", "_headers", "_size_bytes", "_times", "last_offset")

    def __init__(self) -> None:
        self._batches: list[bytes] = []
        self._headers: list[bytes] = []
        self._size_bytes = 0
        self._times: list[bytes] = []
        self.last_offset = -1

    def has_room(self, size_bytes: int) -> bool:
        return not self._batches or self._size_bytes + size_bytes <= MOST_ENTRY_BYTES

    def add(self, last_offset: int, batch: bytes, indexed: Sequence[IndexEntry]) -> None:
        # hot path: no generator
        self._batches.append(batch)
        self._headers.append(batch[:HEADER_BYTES])
        self._size_bytes += len(batch)
        for one in indexed:
            self._times.append(TIME.pack(*one))
        self.last_offset = last_offset

    def entry(self, partition_id: int) -> Entry:
        data = self._batches[0] if len(self._batches) == 1 else b"".join(self._batches)
        times, headers = b"".join(self._times), b"".join(self._headers)
        return Entry(partition_id, self.last_offset, times, data, headers)


def headers_of(batches: bytes) -> bytes:
    view = memoryview(batches)
    return b"".join(view[start : start + HEADER_BYTES] for start, _, _ in batches_of(view))


def newest_time(times: bytes) -> int:
    """The largest timestamp of a part of the index."""
    if not times:
        return NOT_INDEXED
    timestamp: int = TIME.unpack_from(times, len(times) - TIME.size)[0]
    return timestamp


def packed(
    partition_id: int, batches: Sequence[bytes], times: Sequence[IndexEntry]
) -> Iterator[Entry]:
    growing = Growing()
    for batch in batches:
        if not growing.has_room(len(batch)):
            yield growing.entry(partition_id)
            growing = Growing()
        last_offset = last_offset_of(batch)
        indexed = [one for one in times if one[1] <= last_offset]
        times = times[len(indexed) :]
        growing.add(last_offset, batch, indexed)
    if batches:
        yield growing.entry(partition_id)
