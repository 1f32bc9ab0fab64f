"""Segment: one file of batches with its index, or the part of the file that compaction has not
reached; finds batches by offset, and where the last one ends that fits in a read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from struct import Struct
from struct import error as StructError

from application.ports.log_store import Buffer
from domain.messages.batch import HEADER_BYTES, LENGTH_OVERHEAD_BYTES
from infrastructure.kafka_folder.index_entries import INDEX_ENTRY, TIME_ENTRY, IndexEntries
from infrastructure.storage.files.headers import HEADER, MOST_OFFSETS, Damaged, Header
from infrastructure.storage.files.index_file import BY_OFFSET, BY_POSITION, IndexFile, last_at_most
from infrastructure.storage.files.open_files import OpenFiles

#: Read at once to visit the headers of small batches: an interval of the index.
_CHUNK_BYTES = 4096
#: Index entries of the active segment that wait in memory; after a kill they are found again.
UNWRITTEN_BYTES = 64 * INDEX_ENTRY.size

MAX_TIMESTAMP = Struct(">35xq")

LOG, CLEANED, SWAP = ".log", ".cleaned", ".swap"


def name_of(base_offset: int) -> str:
    return f"{base_offset:020d}"


class Segment:
    __slots__ = (
        *("_files", "_index", "_is_damaged", "base_offset", "end_offset", "entries", "file_base"),
        *("folder", "path", "size_bytes", "start", "suffix"),
    )

    def __init__(
        self,
        files: OpenFiles,
        folder: str,
        file_base: int,
        size_bytes: int,
        suffix: str = "",
        base_offset: int | None = None,
        start: int = 0,
    ) -> None:
        self._files = files
        self._index: IndexFile | None = None
        #: In the names of its files.
        self.file_base = file_base
        self.rename(folder, suffix)
        #: No batch in it ends below this offset.
        self.base_offset = file_base if base_offset is None else base_offset
        #: The first byte that belongs to it, and the end of the last committed batch.
        self.start = start
        self.size_bytes = size_bytes
        #: After its last batch; -1: not known.
        self.end_offset = -1
        #: Of a segment that batches are appended to.
        self.entries: IndexEntries | None = None
        #: A walk over all of it has failed.
        self._is_damaged = False

    def rename(self, folder: str, suffix: str) -> None:
        """Its files have other names."""
        self.folder, self.suffix = folder, suffix
        self.path = self.path_of(LOG)
        if self._index is not None:
            self._index.path = self.path_of(".index")

    def path_of(self, kind: str) -> str:
        return f"{self.folder}/{name_of(self.file_base)}{kind}{self.suffix}"

    # ---- batches

    def walk(self, position: int, end: int) -> Iterator[Header]:
        """The batches between two positions; `position` is where one begins."""
        chunk, chunk_start, chunk_bytes, path = b"", position, HEADER_BYTES, self.path
        before, most = self.file_base - 1, self.file_base + MOST_OFFSETS
        while position < end:
            at = position - chunk_start
            if at + HEADER_BYTES > len(chunk):
                chunk = self._files.read(path, position, min(chunk_bytes, end - position))
                chunk_start, at = position, 0
            try:
                base_offset, length, delta, max_timestamp = HEADER.unpack_from(chunk, at)
            except StructError:
                raise Damaged(f"{path} has no batch at byte {position}") from None
            size_bytes, last_offset = length + LENGTH_OVERHEAD_BYTES, base_offset + delta
            if (
                size_bytes < HEADER_BYTES
                or position + size_bytes > end
                or delta < 0
                or not before < last_offset <= most
            ):
                raise Damaged(f"{path} has no batch at byte {position}")
            data = chunk[at : at + HEADER_BYTES]
            yield Header(position, size_bytes, base_offset, last_offset, max_timestamp, data)
            before = last_offset
            position += size_bytes
            chunk_bytes = _CHUNK_BYTES if size_bytes < _CHUNK_BYTES else HEADER_BYTES

    def position_of(self, offset: int) -> int:
        """Of the batch that holds the offset, or of the first after it; `size_bytes`: of none."""
        for header in self._headers_from(offset - self.file_base, BY_OFFSET, self.start):
            if header.last_offset >= offset:
                return header.position
        return self.size_bytes

    def last_end(self, position: int, bound: int) -> tuple[int, int]:
        """Where the last batch ends that lies between two positions, and an offset up to which
        all batches end there or before.

        `position, -1` if none fits.
        """
        last = None
        for header in self._headers_from(bound - 1, BY_POSITION, position):
            if header.end > bound:
                if last is None and header.position > position:
                    return header.position, header.base_offset
                break
            last = header
            if header.end == bound:
                break
        return (position, -1) if last is None else (last.end, last.last_offset + 1)

    def known_end_offset(self) -> int:
        """The offset after the last batch; may read."""
        if self.end_offset < 0:
            end_offset = self.last_end(self.start, self.size_bytes)[1]
            self.end_offset = max(end_offset, self.base_offset)
        return self.end_offset

    def read(self, position: int, size_bytes: int) -> bytes:
        data = self._files.read(self.path, position, size_bytes)
        if len(data) < size_bytes:
            raise Damaged(f"{self.path} ends at byte {position + len(data)}")
        return data

    def view(self, position: int, size_bytes: int) -> Buffer:
        """As `read`, without a copy if it is large."""
        data = self._files.view(self.path, position, size_bytes)
        if len(data) < size_bytes:
            raise Damaged(f"{self.path} ends at byte {position + len(data)}")
        return data

    # ---- the index

    def _headers_from(self, value: int, column: int, least: int) -> Iterator[Header]:
        """From the last indexed batch with at most this offset or position on, or from `least`."""
        for _ in range(2):
            entry = self._floor(value, column)
            if entry is None or entry[1] <= least:
                return self.walk(least, self.size_bytes)
            headers = self.walk(entry[1], self.size_bytes)
            with suppress(Damaged):
                first = next(headers, None)
                if first is not None and first.last_offset == self.file_base + entry[0]:
                    return chain((first,), headers)
            self._rebuild_index()
        raise Damaged(f"{self.path} changes while it is read")

    def _floor(self, value: int, column: int) -> tuple[int, int] | None:
        """The last entry with at most this offset or position."""
        entries = self.entries
        if entries is not None and entries.offsets:
            found = last_at_most(entries.offsets, value, column)
            if found is not None:
                return found
        value = min(value, (1 << 31) - 1)
        index = self._opened_index()
        try:
            return index.floor(value, column)
        except OSError:  # someone has removed or shortened it
            return self._rebuild_index().floor(value, column)

    def _opened_index(self) -> IndexFile:
        """With all entries, rebuilt if it is missing or wrong; raises OSError."""
        if self._index is not None:
            return self._index
        index = None
        with suppress(FileNotFoundError):
            index = IndexFile(self._files, self.path_of(".index"))
            if self._files.read_only:
                index.leave_out(self.size_bytes)
        if index is None or not self._is_right(index):
            try:
                return self._rebuild_index()
            except Damaged:
                # Of the segment. Every entry is checked when it is used.
                self._index = index or self._in_memory(b"")
                return self._index
        self._index = index
        missing = IndexEntries(self.file_base)
        with suppress(Damaged):
            self._find_entries(missing, index.last_position)
        if missing.offsets:
            self._index = self._with_entries(index, missing)
        return self._index

    def any_index(self) -> IndexFile:
        """For readers: also of a segment with a damaged batch, against which it is not checked."""
        if self._index is None:
            try:
                self._index = self._opened_index()
            except Damaged:
                path = self.path_of(".index")
                content = None if os.path.exists(path) else b""
                self._index = IndexFile(self._files, path, content)
        return self._index

    def _is_right(self, index: IndexFile) -> bool:
        """By its last entry: a file that lacks a part of it ends with zeros."""
        if not index.count:
            return True
        offset, position = index.entry(index.count - 1)
        if not 0 < position < self.size_bytes:
            return False
        try:
            header = next(self.walk(position, self.size_bytes))
        except Damaged:
            return False
        return header.last_offset == self.file_base + offset

    def indexed(self) -> IndexEntries:
        """What its indexes have, from its batches."""
        entries = IndexEntries(self.file_base)
        self._find_entries(entries, self.start)
        entries.end()
        return entries

    def _find_entries(self, entries: IndexEntries, position: int) -> None:
        for header in self.walk(position, self.size_bytes):
            entries.add(
                header.position, header.size_bytes, header.last_offset, header.max_timestamp
            )

    def _with_entries(self, index: IndexFile, missing: IndexEntries) -> IndexFile:
        """Those that a killed process has not written."""
        if not self._files.read_only:
            entries = self._resumed(index)
            if entries is None:
                return self._rebuild_index()
            with suppress(OSError):
                self._write(index, entries)
                return index
        return self._in_memory(index.content() + missing.offsets)

    def _in_memory(self, content: bytes) -> IndexFile:
        return IndexFile(self._files, self.path_of(".index"), content)

    def _rebuild_index(self) -> IndexFile:
        """Raises OSError; Damaged: the segment is."""
        if self._is_damaged:
            raise Damaged(f"{self.path} is damaged")
        entries = IndexEntries(self.file_base)
        try:
            self._find_entries(entries, self.start)
        except Damaged:
            self._is_damaged = True
            raise
        if self.entries is None:
            entries.end()
        self._index = self._written(entries)
        if self.entries is not None:
            self.entries = entries
        return self._index

    def _written(self, entries: IndexEntries) -> IndexFile:
        """In memory where it cannot be written: reads go on."""
        path, content = self.path_of(".index"), bytes(entries.offsets)
        if self._files.read_only:
            return self._in_memory(content)
        try:
            self._files.make(self.path_of(".timeindex"), entries.times)
            self._files.make(path, content)
        except OSError:
            self._files.forget(path)
            with suppress(OSError):
                os.unlink(path)
            return self._in_memory(content)
        finally:
            entries.times.clear()
            entries.offsets.clear()
        return IndexFile(self._files, path)

    # ---- appending

    def begin_appends(self) -> None:
        """Finds the entries again that were not written; raises OSError."""
        if self.entries is not None:
            return
        if not self.size_bytes:
            for kind in (".index", ".timeindex"):
                self._files.make(self.path_of(kind))
            self._index = IndexFile(self._files, self.path_of(".index"))
            self.entries = IndexEntries(self.file_base)
            return
        self.entries = self._resumed(self._opened_index())
        if self.entries is None:
            self.entries = IndexEntries(self.file_base)
            self._rebuild_index()

    def _resumed(self, index: IndexFile) -> IndexEntries | None:
        """What an index goes on with; None: the time index is missing or wrong."""
        entries = IndexEntries(self.file_base)
        try:
            with open(self.path_of(".timeindex"), "rb") as file:
                count = os.fstat(file.fileno()).st_size // TIME_ENTRY.size
                if count:
                    file.seek((count - 1) * TIME_ENTRY.size)
                    timestamp, offset = TIME_ENTRY.unpack(file.read(TIME_ENTRY.size))
                    if not self._has_batch(self.file_base + offset, timestamp):
                        return None
                    entries.resume(timestamp, self.file_base + offset)
        except FileNotFoundError:
            return None
        with suppress(Damaged):
            self._find_entries(entries, index.last_position)
        return entries

    def _has_batch(self, last_offset: int, max_timestamp: int) -> bool:
        for header in self._headers_from(last_offset - self.file_base, BY_OFFSET, self.start):
            if header.last_offset >= last_offset:
                return header.last_offset == last_offset and header.max_timestamp == max_timestamp
        return False

    def appended(self, size_bytes: int, last_offset: int, max_timestamp: int) -> None:
        """A committed batch."""
        if self.entries is not None:
            self.entries.add(self.size_bytes, size_bytes, last_offset, max_timestamp)
        self.size_bytes += size_bytes
        self.end_offset = last_offset + 1

    def write_entries(self, at_least_bytes: int = 0) -> None:
        """The index first would lack a timestamp after a kill. Raises OSError."""
        entries = self.entries
        if entries is None or len(entries.offsets) < at_least_bytes:
            return
        self._write(self._opened_index(), entries)

    def _write(self, index: IndexFile, entries: IndexEntries) -> None:
        if entries.times:
            path = self.path_of(".timeindex")
            whole = os.path.getsize(path) // TIME_ENTRY.size * TIME_ENTRY.size
            self._files.write(path, [bytes(entries.times)], whole, len(entries.times))
            entries.times.clear()
        if entries.offsets:
            index.append(entries.offsets)
            entries.offsets.clear()

    def end_appends(self) -> None:
        """Raises OSError."""
        if self.entries is not None:
            self.entries.end()
            self.write_entries()
            self.entries = None

    @property
    def index_bytes(self) -> int:
        written = self._index.count * INDEX_ENTRY.size if self._index is not None else 0
        return written + (len(self.entries.offsets) if self.entries is not None else 0)

    def forget_index(self) -> None:
        self._index = None
