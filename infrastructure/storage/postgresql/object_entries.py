"""The entries of a tail that is an object: their batches are in the object, and the rest of what a
table has is in the database, with their places in the object.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from infrastructure.codecs.checksum import crc32c
from infrastructure.storage.objects.errors import ObjectDamaged
from infrastructure.storage.postgresql.arrays import bigints, byteas
from infrastructure.storage.postgresql.entries import Entry, newest_time
from infrastructure.storage.postgresql.runs import Span


class ObjectEntry(NamedTuple):
    partition_id: int
    last_offset: int
    size_bytes: int
    #: Of the timestamp index.
    times: bytes
    headers: bytes
    #: In the object.
    position: int
    crc: int


class Part(NamedTuple):
    """Of one log."""

    partition_id: int
    span: Span
    size_bytes: int


class NewObject(NamedTuple):
    """An object that was written, and that no run refers to yet."""

    number: int
    name: str
    size_bytes: int
    #: Where its entries were before; none of a commit.
    parts: Sequence[Part]
    entries: Sequence[ObjectEntry]
    #: How often the broker had lost partitions when they were read.
    losses: int = 0


class ObjectData:
    """Of one object, while it is put together: the entries of a log follow each other."""

    def __init__(self) -> None:
        self.entries: list[ObjectEntry] = []
        self.data = bytearray()

    def add(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.entries.append(
                ObjectEntry(
                    entry.partition_id,
                    entry.last_offset,
                    len(entry.data),
                    entry.times,
                    entry.headers,
                    len(self.data),
                    crc32c(entry.data),
                )
            )
            self.data += entry.data


def check(batches: bytes, crc: int, object_: str, position: int) -> None:
    """Raises ObjectDamaged."""
    if crc32c(batches) != crc:
        raise ObjectDamaged(f"{object_} is damaged at byte {position}")


def columns_of(entries: Sequence[ObjectEntry]) -> list[Any]:
    """As in the table, after the number of the tail."""
    return [
        bigints([one.partition_id for one in entries]),
        bigints([one.last_offset for one in entries]),
        bigints([one.size_bytes for one in entries]),
        bigints([newest_time(one.times) for one in entries]),
        byteas([one.times for one in entries]),
        byteas([one.headers for one in entries]),
        bigints([one.position for one in entries]),
        bigints([one.crc for one in entries]),
    ]
