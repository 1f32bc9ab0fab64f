"""Header: of a batch in a segment, with where it lies; and what is wrong with a segment's bytes."""

from __future__ import annotations

from struct import Struct

from domain.messages.batch import HEADER_BYTES, LENGTH_OVERHEAD_BYTES

#: Base offset, length, last offset delta, largest timestamp.
HEADER = Struct(">qi11xi8xq")
#: Offsets in an index are relative to the first one of its segment.
MOST_OFFSETS = (1 << 31) - 1


class Damaged(OSError):
    pass


class Header:
    """Of a batch, with where it lies in its file."""

    __slots__ = ("base_offset", "data", "last_offset", "max_timestamp", "position", "size_bytes")

    def __init__(
        self,
        position: int,
        size_bytes: int,
        base_offset: int,
        last_offset: int,
        max_timestamp: int,
        data: bytes,
    ) -> None:
        self.position = position
        self.size_bytes = size_bytes
        self.base_offset = base_offset
        self.last_offset = last_offset
        self.max_timestamp = max_timestamp
        self.data = data

    @property
    def end(self) -> int:
        return self.position + self.size_bytes


def whole_batches(data: bytes, before: int, most: int) -> tuple[int, int]:
    """How far whole batches reach in what was read, and the offset after them.

    0: no batch is whole, or one is damaged: its offsets do not lie above `before`, up to `most`.
    """
    end = 0
    while end + HEADER_BYTES <= len(data):
        base_offset, length, delta, _ = HEADER.unpack_from(data, end)
        size_bytes, last_offset = length + LENGTH_OVERHEAD_BYTES, base_offset + delta
        if size_bytes < HEADER_BYTES or delta < 0 or not before < last_offset <= most:
            return 0, -1
        if end + size_bytes > len(data):
            break
        end, before = end + size_bytes, last_offset
    return end, before + 1
