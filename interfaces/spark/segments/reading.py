"""Reads a range of offsets, entry by entry, as Arrow batches of bounded size.

Each read is a short transaction that ends when the bytes are copied, so that the broker can reuse
its pages while records are decoded or Spark is slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy
import pyarrow

from application.partitions.opened_batch import MAX_OPENED_BYTES
from domain.errors import BrokerError, InvalidRecord
from domain.messages.batch import CHECKSUM_START, CONTROL, LOG_APPEND_TIME, RecordBatch
from infrastructure.codecs.checksum import crc32c
from infrastructure.codecs.compression import NONE, BatchCompression
from infrastructure.opening import Beside, opened_beside
from infrastructure.storage.errors import StorageUnusable
from interfaces.spark.query.failures import JobFailed, lost
from interfaces.spark.segments.arrays import damaged_row, rows_of
from interfaces.spark.segments.ranges import StoredRange
from interfaces.spark.segments.records import Flags, Opened, Records, decode
from interfaces.spark.segments.whole import Damaged, batches_of

#: Larger reads are slower, by page faults and cache misses.
READ_BYTES = 1 << 20
#: Limits of records in memory, unless a single batch is larger.
CHUNK_BYTES = 1 << 20
CHUNK_RECORDS = 50_000

Found = Opened | Damaged


class Task(NamedTuple):
    """The arguments of a task; pickled."""

    url: str
    schema: pyarrow.Schema
    since_ms: int | None
    #: Inclusive.
    until_ms: int | None
    fail_on_data_loss: bool
    #: Also rows for damaged batches and for control records.
    include_batches: bool


def read_range(task: Task, part: StoredRange) -> Iterator[pyarrow.RecordBatch]:
    """Raises JobFailed."""
    try:
        with opened_beside(task.url, known_whole=True) as store:
            yield from _Reading(task, part, store).rows()
    except (StorageUnusable, BrokerError) as failure:
        raise JobFailed(f"{part.place}: {failure}") from None


class _Reading:
    def __init__(self, task: Task, part: StoredRange, store: Beside) -> None:
        self._task = task
        self._part = part
        self._store = store
        self._with_headers = "headers" in task.schema.names
        self._compression = BatchCompression()

    def rows(self) -> Iterator[pyarrow.RecordBatch]:
        chunk: list[Opened] = []
        size_bytes = count = 0
        for found in self._opened():
            if isinstance(found, Damaged):
                yield from self._rows_of(chunk)
                yield from self._damaged(found)
                chunk, size_bytes, count = [], 0, 0
                continue
            chunk.append(found)
            size_bytes += len(found.payload)
            count += found.batch.count
            if size_bytes >= CHUNK_BYTES or count >= CHUNK_RECORDS:
                yield from self._rows_of(chunk)
                chunk, size_bytes, count = [], 0, 0
        yield from self._rows_of(chunk)

    # ---- out of the store

    def _opened(self) -> Iterator[Found]:
        for batch in self._batches():
            if isinstance(batch, Damaged):
                yield batch
            elif self._is_read(batch):
                yield self._open(batch)

    def _batches(self) -> Iterator[RecordBatch | Damaged]:
        part, position = self._part, self._part.start
        while position < part.end:
            entries = self._store.entries(part.partition_id, position, part.end, READ_BYTES)
            if not entries:
                self._check_gap(position, part.end)
                return
            for last_offset, entry in entries:
                for found in batches_of(entry, last_offset):
                    if isinstance(found, RecordBatch):
                        if found.last_offset < position:
                            continue
                        if found.base_offset > position:
                            self._check_gap(position, min(found.base_offset, part.end))
                        if found.base_offset >= part.end:
                            return
                    elif found.last_offset < position or found.offset >= part.end:
                        continue
                    position = max(position, found.last_offset + 1)
                    yield found
                position = max(position, last_offset + 1)

    def _check_gap(self, position: int, end: int) -> None:
        """Missing offsets are lost data if they were deleted since the query was planned."""
        if not self._task.fail_on_data_loss:
            return
        part = self._part
        topics = self._store.topics.load()
        if not any(part.partition_id in topic.partition_ids for topic in topics):
            raise lost(f"{part.place} was deleted while it was read, at offset {position}")
        if self._store.bounds(part.partition_id)[0] > position:
            raise lost(
                f"offsets {position} to {end - 1} of {part.place} were deleted "
                "before they were read"
            )

    def _is_read(self, batch: RecordBatch) -> bool:
        """Decides by the header: no record is newer than the batch's max timestamp."""
        task = self._task
        if batch.attributes & CONTROL and not task.include_batches:
            return False
        if task.since_ms is not None and batch.max_timestamp < task.since_ms:
            return False
        by_log = batch.attributes & LOG_APPEND_TIME
        return not (by_log and task.until_ms is not None and batch.max_timestamp > task.until_ms)

    def _open(self, batch: RecordBatch) -> Found:
        if crc32c(batch.buffer[CHECKSUM_START:]) != batch.crc:
            return Damaged(batch.base_offset, batch.last_offset, "the checksum does not match")
        if batch.codec == NONE:
            return Opened(batch, batch.records)
        try:
            payload = self._compression.decompress(batch.codec, batch.records, MAX_OPENED_BYTES)
        except BrokerError as wrong:
            return Damaged(batch.base_offset, batch.last_offset, wrong.message)
        return Opened(batch, payload)

    # ---- into columns

    def _rows_of(self, chunk: list[Opened]) -> Iterator[pyarrow.RecordBatch]:
        if not chunk:
            return
        try:
            records = decode(chunk, self._with_headers)
        except InvalidRecord as wrong:
            if len(chunk) > 1:  # find the malformed batch, read the others
                for each in chunk:
                    yield from self._rows_of([each])
                return
            batch = chunk[0].batch
            yield from self._damaged(Damaged(batch.base_offset, batch.last_offset, wrong.message))
            return
        chosen = numpy.flatnonzero(self._fitting(records))
        if len(chosen):
            yield rows_of(records, chosen, chunk, self._part.place, self._task.schema)

    def _fitting(self, records: Records) -> Flags:
        task, part = self._task, self._part
        fitting = (records.offset >= part.start) & (records.offset < part.end)
        if task.since_ms is not None:
            fitting &= records.timestamp >= task.since_ms
        if task.until_ms is not None:
            fitting &= records.timestamp <= task.until_ms
        return fitting

    def _damaged(self, damaged: Damaged) -> Iterator[pyarrow.RecordBatch]:
        """Fails, or yields a row if batches are included, or skips the batch."""
        part = self._part
        if self._task.fail_on_data_loss:
            raise lost(f"offset {damaged.offset} of {part.place} cannot be read: {damaged.why}")
        task = self._task
        # The row is in the range where the batch begins; it has no timestamp to filter.
        is_here = part.is_first or damaged.offset >= part.start
        timeless = task.since_ms is None and task.until_ms is None
        if task.include_batches and is_here and timeless:
            offset = max(damaged.offset, part.start)
            yield damaged_row(damaged, offset, part.place, task.schema)
