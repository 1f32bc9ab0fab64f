"""Offsets of transactions as rows of the log's store, by a number: the same for every engine.

pending_offsets   producer id, digest of group, topic and partition -> length, key and value of the
outbox            number, ...                                          row in table `offsets`

The digest bounds the key, so that the offsets of one number are read alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from struct import Struct
from struct import error as StructError

from application.ports.offset_repository import OffsetRow, OffsetWrite
from application.ports.state_store import StateStore
from domain.errors import StorageFailed
from infrastructure.storage.repositories.offset_repository import (
    offset_key,
    offset_row,
    offset_value,
)

PENDING_OFFSETS = "pending_offsets"
OUTBOX = "outbox"

_NUMBER = Struct(">Q")
_LENGTH = Struct(">I")
_DIGEST_BYTES = 16
#: Rows that are read at once.
_PART = 256


class NumberedOffsets:
    __slots__ = ("_state", "_table")

    def __init__(self, state: StateStore, table: str) -> None:
        self._state = state
        self._table = table

    def load(
        self, number: int | None = None, includes: Callable[[str], bool] | None = None
    ) -> Iterator[tuple[int, OffsetRow]]:
        first = prefix = b"" if number is None else _NUMBER.pack(number)
        while True:
            rows = self._state.scan(self._table, first, _PART)
            for key, value in rows:
                if not key.startswith(prefix):
                    return
                found = _numbered(key, value)
                if includes is None or includes(found[1][0]):
                    yield found
            if len(rows) < _PART:
                return
            first = rows[-1][0] + b"\0"

    def save(self, number: int, writes: Sequence[OffsetWrite]) -> None:
        for group_id, topic, partition, committed in writes:
            key = offset_key(group_id, topic, partition)
            value = None
            if committed is not None:
                value = _LENGTH.pack(len(key)) + key + offset_value(committed)
            digest = blake2b(key, digest_size=_DIGEST_BYTES).digest()
            self._state.put(self._table, _NUMBER.pack(number) + digest, value)


def _numbered(key: bytes, value: bytes) -> tuple[int, OffsetRow]:
    try:
        (number,) = _NUMBER.unpack_from(key)
        row = pending_row(value)
    except StructError as damage:
        raise StorageFailed(
            f"The store could not read an offset of a transaction {key!r}: {damage!r}"
        ) from damage
    return number, offset_row(*row)


def pending_row(value: bytes) -> tuple[bytes, bytes]:
    """Key and value of the row in table `offsets`."""
    start = _LENGTH.size
    end = start + _LENGTH.unpack_from(value)[0]
    return value[start:end], value[end:]
