"""StoppedLog: the state of a log as Kafka left it when it stopped cleanly.

Batches are not read, but for the last ones: Kafka has written down all that a start needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from struct import Struct
from typing import Protocol

from application.ports.log_store import LogName
from domain.partitions.active_segment import EMPTY_SEGMENT, SegmentState
from domain.partitions.transactions import AbortedTransaction
from infrastructure.kafka_folder.index_entries import TIME_ENTRY
from infrastructure.kafka_folder.partition_log import PartitionLog
from infrastructure.kafka_folder.producer_snapshot import SnapshotEntry
from infrastructure.kafka_folder.refused import Damaged, FolderRefused, readable
from infrastructure.storage.files.open_files import OpenFiles, most_open_files
from infrastructure.storage.files.rows import LogRow
from infrastructure.storage.files.segment import Segment

#: One of so many entries of a time index: those are 4 KB of the log apart at least.
_EACH = 16
#: Version, producer id, first and last offset, last stable offset.
_ABORTED = Struct(">hqqqq")

#: Timestamp and offset.
TimeEntry = tuple[int, int]


class TakesLogs(Protocol):
    def adopt(self, partition_id: int, name: LogName, stopped: StoppedLog) -> None:
        """Stages that files of Kafka's, in the folder of their name, are the log of a partition."""
        ...


class StoppedLog:
    def __init__(self, log: PartitionLog) -> None:
        """Raises FolderRefused."""
        files = OpenFiles(most_open_files(), read_only=True)
        with closing(files):
            self._read(log, files)

    def _read(self, log: PartitionLog, files: OpenFiles) -> None:
        self._log = log
        self.start_offset = log.start_offset
        self._segments = [
            Segment(files, str(log.folder), one.base_offset, one.size_bytes)
            for one in log.segments
            if one.size_bytes
        ]
        with readable(log.folder):
            self.end_offset = self._found_end()
            self.times = list(self._times())
            self.segment = self._active()
        self.aborted = list(self._aborted())
        self.producers = self._producers()

    @property
    def size_bytes(self) -> int:
        return sum(one.size_bytes for one in self._segments)

    @property
    def bases(self) -> set[int]:
        return {one.file_base for one in self._segments}

    def size_below(self, offset: int) -> int:
        """Of the segments that end below an offset."""
        ends = [one.base_offset for one in self._segments[1:]]
        return sum(
            one.size_bytes for one, end in zip(self._segments, ends, strict=False) if end <= offset
        )

    def row(self) -> LogRow:
        if not self._segments:
            return LogRow(self.end_offset, self.end_offset, 0, self.end_offset, (), None)
        first, last = self._segments[0], self._segments[-1]
        return LogRow(first.file_base, last.file_base, last.size_bytes, self.end_offset, (), None)

    def _found_end(self) -> int:
        least = max(self._log.base_offset, self.start_offset)
        if not self._segments:
            return least
        last = self._segments[-1]
        end, next_offset = last.last_end(0, last.size_bytes)
        if end != last.size_bytes:
            path = next(one.path for one in self._log.segments if one.base_offset == last.file_base)
            raise Damaged(path, end, "it ends within a batch")
        return max(next_offset, least)

    def _active(self) -> SegmentState:
        base_offset = self._log.base_offset
        last = self._segments[-1] if self._segments else None
        if last is None or last.file_base != base_offset:  # Kafka has begun it, and no more
            return EMPTY_SEGMENT._replace(base_offset=base_offset)
        first = next(last.walk(0, last.size_bytes))
        return SegmentState(base_offset, last.size_bytes, first.max_timestamp)

    def _times(self) -> Iterator[TimeEntry]:
        """Some entries of all time indexes, with rising timestamps."""
        newest = -1
        for segment in self._segments:
            entries = _time_entries(segment)
            for timestamp, offset in (*entries[_EACH - 1 : -1 : _EACH], *entries[-1:]):
                if timestamp > newest:
                    newest = timestamp
                    yield timestamp, segment.file_base + offset

    def _aborted(self) -> Iterator[AbortedTransaction]:
        for path in sorted(self._log.folder.glob("*.txnindex")):
            with readable(path):
                data = path.read_bytes()
            if len(data) % _ABORTED.size:
                raise FolderRefused(f"{path} is cut off: {len(data)} bytes")
            for version, producer_id, first, last, stable in _ABORTED.iter_unpack(data):
                if version:
                    raise FolderRefused(f"{path} has version {version}, not 0")
                if last >= self.start_offset:
                    yield AbortedTransaction(producer_id, first, last, stable)

    def _producers(self) -> list[SnapshotEntry]:
        self._log.check_end(self.end_offset)
        offset, producers = self._log.producers(self.end_offset)
        if self._segments and offset != self.end_offset:
            raise FolderRefused(
                f"{self._log.folder} has no snapshot of its producers at offset "
                f"{self.end_offset}, where it ends: start and stop Kafka once"
            )
        return producers


def _time_entries(segment: Segment) -> list[TimeEntry]:
    """Of its time index, or of its batches if that is missing or wrong."""
    try:
        with open(segment.path_of(".timeindex"), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        data = b""
    entries: list[TimeEntry] = []
    if not len(data) % TIME_ENTRY.size:
        entries = list(TIME_ENTRY.iter_unpack(data))
    if not entries or not all(one < two for one, two in pairwise(entries)):
        entries = list(TIME_ENTRY.iter_unpack(segment.indexed().times))
    return entries
