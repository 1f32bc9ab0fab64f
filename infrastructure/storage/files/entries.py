"""Batches of a log for readers that skip damage, as Spark does if its options say so.

A batch whose header is wrong hides those behind it, up to the next one that is found: where its own
length leads, or where the index points; or else the rest of its segment.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from domain.messages.batch import EXTENT, HEADER_BYTES, LENGTH_OVERHEAD_BYTES
from infrastructure.storage.files.index_file import BY_OFFSET
from infrastructure.storage.files.log_files import LogFiles
from infrastructure.storage.files.segment import Segment

_MAGIC, _MAGIC_AT = 2, 16
#: Read at once, for headers.
_CHUNK_BYTES = 64 << 10


class _Piece(NamedTuple):
    """One batch, or bytes up to the next one that is found."""

    position: int
    end: int
    base_offset: int
    last_offset: int
    is_batch: bool


def entries_of(
    log: LogFiles, offset: int, end_offset: int, max_bytes: int
) -> list[tuple[int, bytes]]:
    """Each with the last offset in it; as many as begin below `end_offset` and fit, at least one.

    Batches side by side are one entry. Raises OSError.
    """
    found: list[tuple[int, bytes]] = []
    left = max_bytes
    segments = log.segments
    number = max(0, bisect_right([one.base_offset for one in segments], offset) - 1)
    for at in range(number, len(segments)):
        segment = segments[at]
        is_last = at + 1 == len(segments)
        after = log.row.end_offset if is_last else segments[at + 1].base_offset
        start = end = last_offset = -1
        is_over = False
        for piece in _pieces(segment, offset, after):
            if piece.last_offset < offset:
                continue
            size_bytes = piece.end - piece.position
            is_over = size_bytes > left and (bool(found) or start >= 0)
            if is_over:
                break
            if start >= 0 and not piece.is_batch:
                found.append((last_offset, segment.read(start, end - start)))
                start = -1
            if start < 0:
                start = piece.position
            end, last_offset = piece.end, piece.last_offset
            left -= size_bytes
            if not piece.is_batch:
                found.append((last_offset, segment.read(start, end - start)))
                start = -1
            is_over = last_offset + 1 >= end_offset or left <= 0
            if is_over:
                break
        if start >= 0:
            found.append((last_offset, segment.read(start, end - start)))
        if is_over:
            break
    return found


def _pieces(segment: Segment, offset: int, after: int) -> Iterator[_Piece]:
    """From a batch on that is near an offset; all offsets are below `after`."""
    headers = _Headers(segment, after)
    position, next_offset = headers.near(offset), segment.base_offset
    piece = headers.at(position, next_offset)
    while position < segment.size_bytes:
        follower: _Piece | None = None
        if piece is None:
            piece = headers.damaged(position, next_offset)
        else:
            # The offset of a batch is not in its checksum: the next one shows if it is wrong.
            follower = headers.at(piece.end, next_offset)
            if follower is not None and follower.base_offset <= piece.last_offset:
                last_offset = follower.base_offset - 1
                piece = piece._replace(last_offset=last_offset, is_batch=False)
        yield piece
        position, next_offset = piece.end, max(next_offset, piece.last_offset + 1)
        piece = follower or headers.at(position, next_offset)


class _Headers:
    def __init__(self, segment: Segment, after: int) -> None:
        self._segment = segment
        self._after = after
        self._chunk, self._chunk_start = b"", 0

    def near(self, offset: int) -> int:
        segment = self._segment
        entry = segment.any_index().floor(offset - segment.file_base, BY_OFFSET)
        if entry is not None and entry[1] >= segment.start:
            found = self.at(entry[1], segment.base_offset)
            # Kafka 3 had the last offset of all batches that were appended together.
            if found is not None and found.last_offset <= segment.file_base + entry[0]:
                return found.position
        return segment.start

    def at(self, position: int, next_offset: int) -> _Piece | None:
        """A batch that fits there."""
        size_bytes = self._segment.size_bytes
        at = position - self._chunk_start
        if at < 0 or at + HEADER_BYTES > len(self._chunk):
            length = min(_CHUNK_BYTES, size_bytes - position)
            if length < HEADER_BYTES:
                return None
            self._chunk, self._chunk_start, at = self._segment.read(position, length), position, 0
        base_offset, length, delta = EXTENT.unpack_from(self._chunk, at)
        end, last_offset = position + length + LENGTH_OVERHEAD_BYTES, base_offset + delta
        if (
            self._chunk[at + _MAGIC_AT] != _MAGIC
            or not position + HEADER_BYTES <= end <= size_bytes
            or not next_offset <= base_offset <= last_offset < self._after
        ):
            return None
        return _Piece(position, end, base_offset, last_offset, True)

    def damaged(self, position: int, next_offset: int) -> _Piece:
        """Up to the next batch."""
        for end in self._further(position):
            found = self.at(end, next_offset)
            if found is not None:
                break
        else:
            end, found = self._segment.size_bytes, None
        last_offset = (self._after if found is None else found.base_offset) - 1
        return _Piece(position, end, next_offset, max(last_offset, next_offset), False)

    def _further(self, position: int) -> Iterator[int]:
        head = self._segment.read(position, min(EXTENT.size, self._segment.size_bytes - position))
        if len(head) == EXTENT.size:
            end = position + EXTENT.unpack(head)[1] + LENGTH_OVERHEAD_BYTES
            if position + HEADER_BYTES <= end < self._segment.size_bytes:
                yield end
        for end in self._segment.any_index().positions_after(position):
            if end < self._segment.size_bytes:
                yield end
