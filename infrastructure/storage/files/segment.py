"""Segment: one file of batches with its index, or the part of the file that compaction has not
reached; finds batches by offset, and where the last one ends that fits in a read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from struct import Struct
from struct import error as StructError

from domain.messages.batch import HEADER_BYTES, LENGTH_OVERHEAD_BYTES
from infrastructure.kafka_folder.index_entries import INDEX_ENTRY, TIME_ENTRY, IndexEntries
from infrastructure.storage.files.index_file import BY_OFFSET, BY_POSITION, IndexFile
from infrastructure.storage.files.open_files import OpenFiles

#: Read at once to visit headers: an interval of the index.
_CHUNK_BYTES = 4096
#: Index entries of the active segment that wait in memory; after a kill they are found again.
UNWRITTEN_BYTES = 64 * INDEX_ENTRY.size

#: Base offset, length, last offset delta, largest timestamp.
_HEADER = Struct(">qi11xi8xq")
MAX_TIMESTAMP = Struct(">35xq")

LOG, CLEANED, SWAP = ".log", ".cleaned", ".swap"


class Damaged(OSError):
    pass


def name_of(base_offset: int) -> str:
    return f"{base_offset:020d}"


class Header:
    """Of a batch, with where it lies in its file."""

    __slots__ = ("data", "last_offset", "max_timestamp", "position", "size_bytes")

    def __init__(
        self, position: int, size_bytes: int, last_offset: int, max_timestamp: int, data: bytes
    ) -> None:
        self.position = position
        self.size_bytes = size_bytes
        self.last_offset = last_offset
        self.max_timestamp = max_timestamp
        self.data = data

    @property
    def end(self) -> int:
        return self.position + self.size_bytes


class Segment:
    __slots__ = (
        *("_files", "_index", "base_offset", "end_offset", "entries", "file_base", "folder"),
        *("size_bytes", "start", "suffix"),
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
        self.folder = folder
        #: In the names of its files.
        self.file_base = file_base
        self.suffix = suffix
        #: No batch in it ends below this offset.
        self.base_offset = file_base if base_offset is None else base_offset
        #: The first byte that belongs to it, and the end of the last committed batch.
        self.start = start
        self.size_bytes = size_bytes
        #: After its last batch; -1: not known.
        self.end_offset = -1
        #: Of a segment that batches are appended to.
        self.entries: IndexEntries | None = None
        self._index: IndexFile | None = None

    def path_of(self, kind: str) -> str:
        return f"{self.folder}/{name_of(self.file_base)}{kind}{self.suffix}"

    @property
    def path(self) -> str:
        return self.path_of(LOG)

    # ---- batches

    def walk(self, position: int, end: int) -> Iterator[Header]:
        """The batches between two positions; `position` is where one begins."""
        chunk, chunk_start, path = b"", position, self.path
        while position < end:
            at = position - chunk_start
            if at + HEADER_BYTES > len(chunk):
                chunk = self._files.read(path, position, min(_CHUNK_BYTES, end - position))
                chunk_start, at = position, 0
            try:
                base_offset, length, delta, max_timestamp = _HEADER.unpack_from(chunk, at)
            except StructError:
                raise Damaged(f"{path} has no batch at byte {position}") from None
            size_bytes = length + LENGTH_OVERHEAD_BYTES
            if size_bytes < HEADER_BYTES or position + size_bytes > end or delta < 0:
                raise Damaged(f"{path} has no batch at byte {position}")
            data = chunk[at : at + HEADER_BYTES]
            yield Header(position, size_bytes, base_offset + delta, max_timestamp, data)
            position += size_bytes

    def position_of(self, offset: int) -> int:
        """Of the batch that holds the offset, or of the first after it; `size_bytes`: of none."""
        for header in self.walk(self._floor(offset - self.file_base, BY_OFFSET), self.size_bytes):
            if header.last_offset >= offset:
                return header.position
        return self.size_bytes

    def last_end(self, position: int, bound: int) -> tuple[int, int]:
        """Where the last batch ends that lies between two positions, and the offset after it.

        `position, -1` if none fits.
        """
        before = bound - 1
        while True:
            start = max(position, self._floor(before, BY_POSITION))
            last = None
            for header in self.walk(start, self.size_bytes):
                if header.end > bound:
                    break
                last = header
                if header.end == bound:
                    break
            if last is not None:
                return last.end, last.last_offset + 1
            if start == position:
                return position, -1
            before = start - 1

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

    # ---- the index

    def _floor(self, value: int, column: int) -> int:
        """The position of the last indexed batch with at most this offset or position."""
        entries = self.entries
        if entries is not None and entries.offsets:
            found = _last_at_most(entries.offsets, value, column)
            if found is not None:
                return max(self.start, found)
        index = self._index
        if index is None:
            index = self._index = self._opened_index()
        entry = index.floor(min(value, (1 << 31) - 1), column)
        return self.start if entry is None else max(self.start, entry[1])

    def _opened_index(self) -> IndexFile:
        """Made anew if it is missing or wrong; raises OSError."""
        path = self.path_of(".index")
        with suppress(FileNotFoundError):
            index = IndexFile(self._files, path)
            if self._is_right(index):
                return index
        return self._rebuilt(path)

    def _is_right(self, index: IndexFile) -> bool:
        """By its last entry: a file that lacks a part of it ends with zeros."""
        if not index.count:
            return self.size_bytes - self.start < _REBUILT_FROM_BYTES
        offset, position = index.entry(index.count - 1)
        if not 0 < position < self.size_bytes:
            return False
        try:
            header = next(self.walk(position, self.size_bytes))
        except Damaged:
            return False
        return header.last_offset == self.file_base + offset

    def _rebuilt(self, path: str) -> IndexFile:
        entries = IndexEntries(self.file_base)
        for header in self.walk(self.start, self.size_bytes):
            entries.add(
                header.position, header.size_bytes, header.last_offset, header.max_timestamp
            )
        entries.end()
        if self._files.read_only:
            return IndexFile(self._files, path, bytes(entries.offsets))
        self._files.make(self.path_of(".timeindex"), entries.times)
        self._files.make(path, entries.offsets)
        return IndexFile(self._files, path)

    # ---- appending

    def begin_appends(self) -> IndexEntries:
        """Finds the entries again that were not written; raises OSError."""
        if self.entries is None:
            self.entries = self._resumed() if self.size_bytes else self._new()
        return self.entries

    def _new(self) -> IndexEntries:
        for kind in (".index", ".timeindex"):
            self._files.make(self.path_of(kind))
        self._index = IndexFile(self._files, self.path_of(".index"))
        return IndexEntries(self.file_base)

    def _resumed(self) -> IndexEntries:
        index = self._index or self._opened_index()
        self._index = index
        entries = IndexEntries(self.file_base)
        times = Path(self.path_of(".timeindex"))
        if not times.exists():
            self._files.make(str(times))
        last = _last_time_entry(times)
        if last is not None and not self._is_in_it(*last):
            # A power cut took the log back, or left zeros in place of the entries.
            index = self._index = self._rebuilt(self.path_of(".index"))
            last = _last_time_entry(times)
        if last is not None:
            entries.resume(last[0], self.file_base + last[1])
        position = index.entry(index.count - 1)[1] if index.count else 0
        for header in self.walk(position, self.size_bytes):
            entries.add(
                header.position, header.size_bytes, header.last_offset, header.max_timestamp
            )
        return entries

    def _is_in_it(self, timestamp: int, offset: int) -> bool:
        is_zero = not timestamp and not offset
        return not is_zero and self.file_base + offset < self.known_end_offset()

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
        if entries.times:
            path = self.path_of(".timeindex")
            whole = os.path.getsize(path) // TIME_ENTRY.size * TIME_ENTRY.size
            self._files.write(path, [bytes(entries.times)], whole, len(entries.times))
            entries.times.clear()
        if entries.offsets:
            assert self._index is not None
            self._index.append(entries.offsets)
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

    def move(self, folder: str) -> None:
        self.folder = folder
        if self._index is not None:
            self._index.path = self.path_of(".index")


#: A file without index entries of at least this size lacks them, unless it is one batch.
_REBUILT_FROM_BYTES = 64 << 10


def _last_time_entry(path: Path) -> tuple[int, int] | None:
    """Timestamp and offset (minus that of the segment)."""
    with path.open("rb") as file:
        count = os.fstat(file.fileno()).st_size // TIME_ENTRY.size
        if not count:
            return None
        file.seek((count - 1) * TIME_ENTRY.size)
        timestamp, offset = TIME_ENTRY.unpack(file.read(TIME_ENTRY.size))
        return timestamp, offset


def _last_at_most(offsets: bytearray, value: int, column: int) -> int | None:
    """The position of the last of these entries with at most this value."""
    low, high = 0, len(offsets) // INDEX_ENTRY.size
    while low < high:
        middle = (low + high) // 2
        if INDEX_ENTRY.unpack_from(offsets, middle * INDEX_ENTRY.size)[column // 4] <= value:
            low = middle + 1
        else:
            high = middle
    return INDEX_ENTRY.unpack_from(offsets, (low - 1) * INDEX_ENTRY.size)[1] if low else None
