"""LogCheck: how far the files of a log are whole, batch by batch.

A file may be older than its row: shorter, or as before compaction has rewritten it. So a segment is
whole if its batches lead to the offset where it ended, however many bytes that takes. A row may be
older than the names of files: segments that are missing before others were removed.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import NamedTuple

from domain.messages.batch import (
    CHECKSUM_START,
    CRC,
    CRC_START,
    EXTENT,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
)
from infrastructure.codecs.checksum import crc32c
from infrastructure.storage.files.rows import COMPLETE, Finished, LogRow, Rewrite
from infrastructure.storage.files.segment import CLEANED, LOG, SWAP, name_of

_LOG_FILE = re.compile(r"(\d{20})\.log(\.cleaned|\.swap)?")
_BUFFER_BYTES = 1 << 20
_NO_LIMIT = 1 << 63


class _Reached(NamedTuple):
    position: int
    end_offset: int


class LogCheck:
    """`folder`: None if there is none."""

    def __init__(
        self, folder: str | None, row: LogRow, finished: dict[int, Finished], read_only: bool
    ) -> None:
        self._folder = folder
        self._finished = finished
        self._read_only = read_only
        #: What is left.
        self.row = row
        #: Segments that are left, and those that are not.
        self.changed: dict[int, Finished | None] = {}
        #: Below it nothing is left, though the row says so.
        self.first_offset = 0
        #: The timestamp index is right below this offset.
        self.indexed_until = _NO_LIMIT

    def run(self) -> bool:
        """True if something is not as the row says."""
        row = self.row
        if not row.has_batches:
            return False
        expected = {
            base: one
            for base, one in sorted(self._finished.items())
            if row.first_base <= base < row.active_base
        }
        expected[row.active_base] = Finished(row.active_bytes, row.end_offset)
        rewrites = {one.base_offset: one for one in row.rewrites}
        left: dict[int, Finished] = {}
        end_offset, is_whole = row.first_base, True
        present = self._present()
        for base, one in expected.items():
            if base not in present and any(base < other for other in present & expected.keys()):
                continue  # names arrive in their order: it was removed
            is_active = base == row.active_base
            found, is_whole = self._segment(base, one, is_active, rewrites, end_offset)
            if found.size_bytes:
                left[base] = found
                end_offset = found.end_offset
            if not is_whole:
                break
        kept = tuple(
            one for one in row.rewrites if one.base_offset in rewrites and one.base_offset in left
        )
        self.row = self._row_of(left, end_offset, kept)
        for base in self._finished:
            after = left.get(base) if base != self.row.active_base else None
            if after != self._finished[base]:
                self.changed[base] = after
        if left and self.row.first_base != row.first_base:
            self.first_offset = self.row.first_base
        if not is_whole:
            self.indexed_until = min(self.indexed_until, end_offset)
        return self.row != row or bool(self.changed)

    def _row_of(
        self, left: dict[int, Finished], end_offset: int, rewrites: tuple[Rewrite, ...]
    ) -> LogRow:
        row = self.row
        if not left:
            return LogRow(end_offset, end_offset, 0, end_offset, (), row.name)
        base, active = list(left.items())[-1]
        return LogRow(next(iter(left)), base, active.size_bytes, end_offset, rewrites, row.name)

    def _segment(
        self,
        base: int,
        expected: Finished,
        is_active: bool,
        rewrites: dict[int, Rewrite],
        end_offset: int,
    ) -> tuple[Finished, bool]:
        """What is left of it, and whether that is all."""
        rewrite = rewrites.get(base)
        if rewrite is not None:
            found = self._rewritten(base, expected, is_active, rewrite, end_offset)
            if found is not None:
                return found, True
            # The segment as it was before; what is done of the rewrite is removed.
            del rewrites[base]
            self.indexed_until = min(self.indexed_until, base)
        path = self._path(base)
        found_to = self._walk(path, 0, _NO_LIMIT, end_offset, expected.end_offset)
        is_whole = found_to.end_offset == expected.end_offset
        if is_whole:
            self._cut_tail(path, found_to.position, is_active)
        return Finished(found_to.position, found_to.end_offset), is_whole

    def _rewritten(
        self, base: int, expected: Finished, is_active: bool, rewrite: Rewrite, end_offset: int
    ) -> Finished | None:
        """None: it is not whole."""
        size_bytes, is_complete = rewrite.size_bytes, rewrite.from_position == COMPLETE
        for suffix in (CLEANED, SWAP) if is_complete else (CLEANED,):
            path = self._path(base, suffix)
            if not os.path.exists(path):
                continue
            cleaned = self._walk(path, 0, size_bytes, end_offset, _NO_LIMIT)
            if cleaned.position != size_bytes:
                continue
            if is_complete:
                return expected if cleaned.end_offset == expected.end_offset else None
            start, offset = rewrite.from_position, max(cleaned.end_offset, rewrite.from_offset)
            path = self._path(base)
            rest = self._walk(path, start, _NO_LIMIT, offset, expected.end_offset)
            if (rest.position, rest.end_offset) != expected:
                return None
            self._cut_tail(path, rest.position, is_active)
            return expected
        return None

    def _cut_tail(self, path: str, position: int, is_active: bool) -> None:
        """What was never committed; of the active segment its row says where that begins."""
        if not is_active and not self._read_only:
            os.truncate(path, position)

    def _present(self) -> set[int]:
        """Segments that have a file of any name."""
        if self._folder is None:
            return set()
        found = (_LOG_FILE.fullmatch(name) for name in os.listdir(self._folder))
        return {int(one[1]) for one in found if one is not None}

    def _path(self, base: int, suffix: str = "") -> str:
        return f"{self._folder}/{name_of(base)}{LOG}{suffix}"

    def _walk(self, path: str, position: int, limit: int, end_offset: int, until: int) -> _Reached:
        """Over whole batches whose offsets ascend, up to a position or an offset."""
        if self._folder is None:
            return _Reached(position, end_offset)
        with suppress(FileNotFoundError), open(path, "rb", _BUFFER_BYTES) as file:
            file.seek(position)
            limit = min(limit, os.fstat(file.fileno()).st_size)
            while position < limit and end_offset < until:
                header = file.read(HEADER_BYTES)
                if len(header) < HEADER_BYTES:
                    break
                base_offset, length, delta = EXTENT.unpack_from(header)
                end = position + length + LENGTH_OVERHEAD_BYTES
                after = base_offset + delta + 1
                if (
                    length < HEADER_BYTES - LENGTH_OVERHEAD_BYTES
                    or end > limit
                    or delta < 0
                    or base_offset < end_offset
                    or after > until
                ):
                    break
                batch = header + file.read(end - position - HEADER_BYTES)
                (checksum,) = CRC.unpack_from(batch, CRC_START)
                if crc32c(memoryview(batch)[CHECKSUM_START:]) != checksum:
                    break
                position, end_offset = end, after
        return _Reached(position, end_offset)
