"""LogWriter: writes the batches of one partition as Apache Kafka does, in segments with indexes.

00000000000000000000.log        batches; the name is the first offset of the segment
00000000000000000000.index      see index_entries.py
00000000000000000000.timeindex
"""

from __future__ import annotations

import os
from bisect import bisect_right
from pathlib import Path
from struct import Struct
from typing import BinaryIO

from domain.messages.batch import RecordBatch
from domain.partitions.transactions import AbortedTransaction
from infrastructure.kafka_folder.index_entries import (
    INDEX_ENTRY,
    INDEX_INTERVAL_BYTES,
    MAX_INDEX_BYTES,
    IndexEntries,
)

#: Version, producer id, first and last offset, last stable offset.
_ABORTED = Struct(">hqqqq")
_INT_MAX = 2**31 - 1


class LogWriter:
    def __init__(
        self,
        folder: Path,
        segment_bytes: int,
        segment_ms: int,
        start_offset: int = 0,
        index_interval_bytes: int = INDEX_INTERVAL_BYTES,
    ) -> None:
        """The folder is there, and has no segments. The first one begins at `start_offset`, or
        below, with the first batch: Kafka takes that for the log start offset.
        """
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._segment_ms = segment_ms
        self._index_interval_bytes = index_interval_bytes
        self._segment: _Segment | None = None
        self._start_offset = start_offset
        #: The first offset of each segment.
        self.segments: list[int] = []

    def append(self, batch: RecordBatch) -> None:
        segment = self._segment
        if segment is None:
            segment = self._roll(min(self._start_offset, batch.base_offset))
        if self._is_full(segment, batch):
            segment = self._roll(batch.base_offset)
        segment.append(batch)

    def _roll(self, base_offset: int) -> _Segment:
        self._close_segment()
        self._segment = segment = _Segment(self._folder, base_offset, self._index_interval_bytes)
        self.segments.append(base_offset)
        return segment

    def _is_full(self, segment: _Segment, batch: RecordBatch) -> bool:
        return batch.last_offset - segment.base_offset > _INT_MAX or bool(
            segment.size_bytes
            and (
                segment.size_bytes + batch.size_bytes > self._segment_bytes
                or batch.max_timestamp - segment.first_timestamp > self._segment_ms
                or segment.index.tell() + INDEX_ENTRY.size > MAX_INDEX_BYTES
            )
        )

    def add_aborted(self, aborted: AbortedTransaction) -> None:
        """To the transaction index of the segment with its marker, if that is still there."""
        index = bisect_right(self.segments, aborted.last_offset) - 1
        if index < 0:
            return
        with (self._folder / f"{self.segments[index]:020d}.txnindex").open("ab") as file:
            file.write(_ABORTED.pack(0, *aborted))

    def close(self, end_offset: int) -> None:
        """All is on disk then. A log without batches has an empty segment."""
        if not self.segments:
            self._roll(end_offset)
        self._close_segment()
        for path in self._folder.glob("*.txnindex"):
            with path.open("rb") as index:
                os.fsync(index.fileno())

    def write(self, name: str, content: bytes) -> None:
        """A file beside the segments."""
        with (self._folder / name).open("xb") as file:
            file.write(content)
            _sync(file)

    def _close_segment(self) -> None:
        if self._segment is not None:
            self._segment.close()
            self._segment = None


class _Segment:
    def __init__(self, folder: Path, base_offset: int, index_interval_bytes: int) -> None:
        self.base_offset = base_offset
        self.size_bytes = 0
        self.first_timestamp = -1
        self._entries = IndexEntries(base_offset, index_interval_bytes)
        name = f"{base_offset:020d}"
        self._log = (folder / f"{name}.log").open("xb")
        self.index = (folder / f"{name}.index").open("xb")
        self._time_index = (folder / f"{name}.timeindex").open("xb")

    def append(self, batch: RecordBatch) -> None:
        if not self.size_bytes:
            self.first_timestamp = batch.max_timestamp
        self._entries.add(self.size_bytes, batch.size_bytes, batch.last_offset, batch.max_timestamp)
        self._write_entries()
        self._log.write(batch.buffer)
        self.size_bytes += batch.size_bytes

    def _write_entries(self) -> None:
        entries = self._entries
        for file, new in ((self.index, entries.offsets), (self._time_index, entries.times)):
            if new:
                file.write(new)
                new.clear()

    def close(self) -> None:
        if self.size_bytes:
            self._entries.end()
            self._write_entries()
        for file in (self._log, self.index, self._time_index):
            _sync(file)
            file.close()


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
