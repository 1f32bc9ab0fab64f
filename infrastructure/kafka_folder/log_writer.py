"""LogWriter: writes the batches of one partition as Apache Kafka does, in segments with indexes.

    00000000000000000000.log        batches; the name is the first offset of the segment
    00000000000000000000.index      last offset of a batch - that of the segment, its position
    00000000000000000000.timeindex  largest timestamp so far, the last offset of its batch, as above

An index has an entry for each batch that begins more than `index.interval.bytes` behind the one of
the entry before. The time index has one more at the end of a segment.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from pathlib import Path
from struct import Struct
from typing import BinaryIO

from domain.messages.batch import RecordBatch
from domain.partitions.transactions import AbortedTransaction

INDEX_ENTRY = Struct(">ii")
TIME_ENTRY = Struct(">qi")
#: Version, producer id, first and last offset, last stable offset.
_ABORTED = Struct(">hqqqq")
#: Kafka's default of log.index.size.max.bytes: an index that is full ends its segment.
_INDEX_BYTES = 10 * 1024 * 1024
_INT_MAX = 2**31 - 1
#: Kafka's default of log.index.interval.bytes.
INDEX_INTERVAL_BYTES = 4096


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
        segment.append(batch, self._index_interval_bytes)

    def _roll(self, base_offset: int) -> _Segment:
        self._close_segment()
        self._segment = segment = _Segment(self._folder, base_offset)
        self.segments.append(base_offset)
        return segment

    def _is_full(self, segment: _Segment, batch: RecordBatch) -> bool:
        return batch.last_offset - segment.base_offset > _INT_MAX or bool(
            segment.size_bytes
            and (
                segment.size_bytes + batch.size_bytes > self._segment_bytes
                or batch.max_timestamp - segment.first_timestamp > self._segment_ms
                or segment.index.tell() + INDEX_ENTRY.size > _INDEX_BYTES
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
    def __init__(self, folder: Path, base_offset: int) -> None:
        self.base_offset = base_offset
        self.size_bytes = 0
        self.first_timestamp = -1
        self._max_timestamp, self._its_offset = -1, base_offset
        #: Of the newest entry of the time index: timestamp and offset.
        self._last_entry = -1, base_offset
        self._bytes_since_entry = 0
        name = f"{base_offset:020d}"
        self._log = (folder / f"{name}.log").open("xb")
        self.index = (folder / f"{name}.index").open("xb")
        self._time_index = (folder / f"{name}.timeindex").open("xb")

    def append(self, batch: RecordBatch, index_interval_bytes: int) -> None:
        if not self.size_bytes:
            self.first_timestamp = batch.max_timestamp
        last_offset = batch.last_offset
        if batch.max_timestamp > self._max_timestamp:
            self._max_timestamp, self._its_offset = batch.max_timestamp, last_offset
        if self._bytes_since_entry > index_interval_bytes:
            delta = last_offset - self.base_offset
            self.index.write(INDEX_ENTRY.pack(delta, self.size_bytes))
            self._add_time()
            self._bytes_since_entry = 0
        self._log.write(batch.buffer)
        self.size_bytes += batch.size_bytes
        self._bytes_since_entry += batch.size_bytes

    def _add_time(self) -> None:
        """Unless the newest entry has this timestamp."""
        if self._max_timestamp > self._last_entry[0]:
            self._last_entry = self._max_timestamp, self._its_offset
            entry = TIME_ENTRY.pack(self._max_timestamp, self._its_offset - self.base_offset)
            self._time_index.write(entry)

    def close(self) -> None:
        if self.size_bytes:
            self._add_time()
        for file in (self._log, self.index, self._time_index):
            _sync(file)
            file.close()


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
