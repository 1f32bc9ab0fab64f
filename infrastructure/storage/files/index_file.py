"""IndexFile: the sparse index of a segment, `.index`, searched by offset or by position."""

from __future__ import annotations

import os
from collections.abc import Iterator
from struct import Struct

from infrastructure.kafka_folder.index_entries import INDEX_ENTRY
from infrastructure.storage.files.open_files import OpenFiles

#: Entries that are read at once, and stay in memory for the next search.
_BLOCK = 512
_VALUE = Struct(">i")

BY_OFFSET, BY_POSITION = 0, 4


class IndexFile:
    __slots__ = ("_block", "_data", "_files", "count", "path")

    def __init__(self, files: OpenFiles, path: str, data: bytes | None = None) -> None:
        """`data`: its content, where there is no file. Raises OSError."""
        self._files = files
        self._data = data
        self.path = path
        size_bytes = os.path.getsize(path) if data is None else len(data)
        #: Whole entries.
        self.count = size_bytes // INDEX_ENTRY.size
        self._block = b""

    @property
    def last_position(self) -> int:
        """Of the last indexed batch, or 0."""
        return self.entry(self.count - 1)[1] if self.count else 0

    def content(self) -> bytes:
        return self._read(0, self.count)

    def leave_out(self, position: int) -> None:
        """The entries from a position on that a broker has added meanwhile."""
        for _ in range(_BLOCK):
            if not self.count or self.last_position < position:
                return
            self.count -= 1

    def entry(self, number: int) -> tuple[int, int]:
        """Offset (minus that of the segment) and position."""
        offset, position = INDEX_ENTRY.unpack(self._read(number, 1))
        return offset, position

    def floor(self, value: int, column: int) -> tuple[int, int] | None:
        """The last entry with at most this offset or position."""
        if not self.count:
            return None
        block = self._block
        if (
            not block
            or value < _VALUE.unpack_from(block, column)[0]
            # Behind its last entry another one may follow.
            or value >= _VALUE.unpack_from(block, len(block) - INDEX_ENTRY.size + column)[0]
        ):
            start = self._block_of(value, column)
            block = self._block = self._read(start, min(_BLOCK, self.count - start))
        return last_at_most(block, value, column)

    def _block_of(self, value: int, column: int) -> int:
        """The first entry of the last block that begins with at most this value, or 0."""
        low, high = 0, (self.count - 1) // _BLOCK
        while low < high:
            middle = (low + high + 1) // 2
            if self.entry(middle * _BLOCK)[column // 4] <= value:
                low = middle
            else:
                high = middle - 1
        return low * _BLOCK

    def positions_after(self, position: int) -> Iterator[int]:
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            if self.entry(middle)[1] <= position:
                low = middle + 1
            else:
                high = middle
        for first in range(low, self.count, _BLOCK):
            block = self._read(first, min(_BLOCK, self.count - first))
            yield from (found for _, found in INDEX_ENTRY.iter_unpack(block))

    def _read(self, first: int, count: int) -> bytes:
        start, size_bytes = first * INDEX_ENTRY.size, count * INDEX_ENTRY.size
        if self._data is not None:
            return self._data[start : start + size_bytes]
        data = os.pread(self._files.descriptor(self.path), size_bytes, start)
        if len(data) < size_bytes:
            raise OSError(f"{self.path} became shorter")
        return data

    def append(self, entries: bytes | bytearray) -> None:
        """Raises OSError."""
        if self._data is None:
            start = self.count * INDEX_ENTRY.size
            self._files.write(self.path, [bytes(entries)], start, len(entries))
        else:
            self._data += entries
        self.count += len(entries) // INDEX_ENTRY.size
        self._block = b""


def last_at_most(entries: bytes | bytearray, value: int, column: int) -> tuple[int, int] | None:
    """The last of these entries with at most this value."""
    low, high = 0, len(entries) // INDEX_ENTRY.size
    while low < high:
        middle = (low + high) // 2
        if _VALUE.unpack_from(entries, middle * INDEX_ENTRY.size + column)[0] <= value:
            low = middle + 1
        else:
            high = middle
    if not low:
        return None
    offset, position = INDEX_ENTRY.unpack_from(entries, (low - 1) * INDEX_ENTRY.size)
    return offset, position
