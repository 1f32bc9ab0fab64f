"""Frames: the values of records as consumers of a stream get them, each after its length."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import NamedTuple

from domain.errors import InvalidRecord
from domain.messages.runs import Run, read_in_runs
from domain.messages.varint import read_varint

LENGTH_BYTES = 4
_LENGTH = Struct(">I")


class Frames(NamedTuple):
    offsets: Sequence[int]
    #: Of the values; that of a tombstone is empty.
    sizes: list[int]
    pieces: list[bytes]

    @property
    def size_bytes(self) -> int:
        return sum(self.sizes) + LENGTH_BYTES * len(self.sizes)

    def since(self, offset: int) -> Frames:
        """Without the records before an offset."""
        first = bisect_left(self.offsets, offset)
        if not first:
            return self
        start = sum(self.sizes[:first]) + LENGTH_BYTES * first
        return Frames(self.offsets[first:], self.sizes[first:], [b"".join(self.pieces)[start:]])

    def runs(self) -> Iterator[tuple[int, list[int]]]:
        """First offset and sizes of records without gaps in between, as compaction leaves them."""
        offsets, sizes, first = self.offsets, self.sizes, 0
        ends = range(1, len(sizes) + 1) if isinstance(offsets, list) else (len(sizes),)
        for end in ends:
            if end == len(sizes) or offsets[end] != offsets[end - 1] + 1:
                yield offsets[first], sizes[first:end]
                first = end


def frames_of(values: Sequence[bytes | memoryview]) -> bytes:
    sizes = set(map(len, values))
    if len(sizes) == 1:  # records of one size are common
        length = _LENGTH.pack(sizes.pop())
        return length + length.join(values)
    pack = _LENGTH.pack
    return b"".join([part for value in values for part in (pack(len(value)), value)])


def read_frames(payload: bytes, base_offset: int, last_offset_delta: int, count: int) -> Frames:
    """Of an uncompressed batch, from the bytes after its header.

    Raises InvalidRecord if the bytes are not `count` records with ascending offsets of the batch.
    """
    reader = _FrameReader()
    last_delta = read_in_runs(payload, last_offset_delta, count, reader)
    offsets: Sequence[int] = range(base_offset, base_offset + count)
    if last_delta >= count:  # there are gaps
        offsets = [base_offset + delta for each in reader.deltas for delta in each]
    return Frames(offsets, reader.sizes, reader.pieces)


class _FrameReader:
    keyed = False

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.sizes: list[int] = []
        self.deltas: list[Sequence[int]] = []

    def run(self, payload: bytes, run: Run, first_delta: int) -> None:
        length = _LENGTH.pack(run.part_bytes)
        self.pieces += (length, length.join(run.parts(payload)))
        self.sizes += [run.part_bytes] * run.records
        self.deltas.append(range(first_delta, first_delta + run.records))

    def one_by_one(
        self, payload: bytes, start: int, indexes: range, delta_before: int
    ) -> tuple[int, int]:
        """Numbers of one group without a call, as most are; their sign is the lowest bit."""
        deltas: list[int] = []
        end = start
        for _ in indexes:
            length, position = payload[end], end + 1
            if length > 0x7F:
                length, position = read_varint(payload, end)
                length <<= 1
            end = position + (length >> 1)
            position += 1
            while payload[position] > 0x7F:  # the timestamp
                position += 1
            delta, position = payload[position + 1], position + 2
            if delta > 0x7F:
                delta, position = read_varint(payload, position - 1)
                delta <<= 1
            if payload[position] == 1:  # no key
                position += 1
            else:
                key_bytes, position = read_varint(payload, position)
                position += max(key_bytes, 0)
            size, value = payload[position], position + 1
            if size > 0x7F:
                size, value = read_varint(payload, position)
                size <<= 1
            size = 0 if size & 1 or size < 0 else size >> 1
            if (length | delta) & 1 or delta >> 1 <= delta_before or value + size >= end:
                raise InvalidRecord("Offsets that do not ascend, or a record of the wrong length.")
            delta_before = delta >> 1
            deltas.append(delta_before)
            self.sizes.append(size)
            self.pieces += (_LENGTH.pack(size), payload[value : value + size])
        self.deltas.append(deltas)
        return end, delta_before
