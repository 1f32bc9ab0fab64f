"""A range of offsets, read entry by entry, as record batches of Arrow of a bounded size.

Every look into the store is a transaction of its own that ends when its bytes are copied, so the
broker's pages are never held while something is decoded, or while Spark takes its time.
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

#: More is slower: fresh memory costs page faults, and caches are not larger.
READ_BYTES = 1 << 20
#: Of records in memory at once, unless one batch alone has more.
CHUNK_BYTES = 1 << 20
CHUNK_RECORDS = 50_000

Found = Opened | Damaged


class Task(NamedTuple):
    """What a task is told; it is pickled."""

    url: str
    schema: pyarrow.Schema
    since_ms: int | None
    #: Included.
    until_ms: int | None
    fail_on_data_loss: bool
    #: Damaged batches have a row each, and control batches have theirs.
    tells_batches: bool


def read_range(task: Task, where: StoredRange) -> Iterator[pyarrow.RecordBatch]:
    """Raises JobFailed, in one line."""
    try:
        with opened_beside(task.url, known_whole=True) as store:
            yield from _Reading(task, where, store).rows()
    except (StorageUnusable, BrokerError) as failure:
        raise JobFailed(f"{where.place}: {failure}") from None


class _Reading:
    def __init__(self, task: Task, where: StoredRange, store: Beside) -> None:
        self._task = task
        self._where = where
        self._store = store
        self._with_headers = "headers" in task.schema.names
        self._compression = BatchCompression()

    def rows(self) -> Iterator[pyarrow.RecordBatch]:
        held: list[Opened] = []
        size_bytes = count = 0
        for found in self._opened():
            if isinstance(found, Damaged):
                yield from self._rows_of(held)
                yield from self._told(found)
                held, size_bytes, count = [], 0, 0
                continue
            held.append(found)
            size_bytes += len(found.payload)
            count += found.batch.count
            if size_bytes >= CHUNK_BYTES or count >= CHUNK_RECORDS:
                yield from self._rows_of(held)
                held, size_bytes, count = [], 0, 0
        yield from self._rows_of(held)

    # ---- out of the store

    def _opened(self) -> Iterator[Found]:
        for batch in self._batches():
            if isinstance(batch, Damaged):
                yield batch
            elif self._is_wanted(batch):
                yield self._open(batch)

    def _batches(self) -> Iterator[RecordBatch | Damaged]:
        where, position = self._where, self._where.start
        while position < where.end:
            entries = self._store.entries(where.partition_id, position, where.end, READ_BYTES)
            if not entries:
                self._check_gap(position, where.end)
                return
            for last_offset, entry in entries:
                for found in batches_of(entry, last_offset):
                    if isinstance(found, RecordBatch):
                        if found.last_offset < position:
                            continue
                        if found.base_offset > position:
                            self._check_gap(position, min(found.base_offset, where.end))
                        if found.base_offset >= where.end:
                            return
                    elif found.last_offset < position or found.offset >= where.end:
                        continue
                    position = max(position, found.last_offset + 1)
                    yield found
                position = max(position, last_offset + 1)

    def _check_gap(self, position: int, end: int) -> None:
        """Offsets may be missing for good reason, unless they were deleted since the planning."""
        if not self._task.fail_on_data_loss:
            return
        where = self._where
        topics = self._store.topics.load()
        if not any(where.partition_id in topic.partition_ids for topic in topics):
            raise lost(f"{where.place} was deleted while it was read, at offset {position}")
        if self._store.bounds(where.partition_id)[0] > position:
            raise lost(
                f"offsets {position} to {end - 1} of {where.place} were deleted "
                "before they were read"
            )

    def _is_wanted(self, batch: RecordBatch) -> bool:
        """By its header alone: what it holds may be older than its newest record, never younger."""
        task = self._task
        if batch.attributes & CONTROL and not task.tells_batches:
            return False
        if task.since_ms is not None and batch.max_timestamp < task.since_ms:
            return False
        by_log = batch.attributes & LOG_APPEND_TIME
        return not (by_log and task.until_ms is not None and batch.max_timestamp > task.until_ms)

    def _open(self, batch: RecordBatch) -> Found:
        if crc32c(batch.buffer[CHECKSUM_START:]) != batch.crc:
            return Damaged(
                batch.base_offset, batch.last_offset, "another checksum than its bytes have"
            )
        if batch.codec == NONE:
            return Opened(batch, batch.records)
        try:
            payload = self._compression.decompress(batch.codec, batch.records, MAX_OPENED_BYTES)
        except BrokerError as wrong:
            return Damaged(batch.base_offset, batch.last_offset, wrong.message)
        return Opened(batch, payload)

    # ---- into columns

    def _rows_of(self, held: list[Opened]) -> Iterator[pyarrow.RecordBatch]:
        if not held:
            return
        try:
            records = decode(held, self._with_headers)
        except InvalidRecord as wrong:
            if len(held) > 1:  # it is one of them; the others are to be read
                for each in held:
                    yield from self._rows_of([each])
                return
            batch = held[0].batch
            yield from self._told(Damaged(batch.base_offset, batch.last_offset, wrong.message))
            return
        chosen = numpy.flatnonzero(self._fitting(records))
        if len(chosen):
            yield rows_of(records, chosen, held, self._where.place, self._task.schema)

    def _fitting(self, records: Records) -> Flags:
        task, where = self._task, self._where
        fitting = (records.offset >= where.start) & (records.offset < where.end)
        if task.since_ms is not None:
            fitting &= records.timestamp >= task.since_ms
        if task.until_ms is not None:
            fitting &= records.timestamp <= task.until_ms
        return fitting

    def _told(self, damaged: Damaged) -> Iterator[pyarrow.RecordBatch]:
        """Ends the reading, or is a row, or nothing."""
        where = self._where
        if self._task.fail_on_data_loss:
            raise lost(f"offset {damaged.offset} of {where.place} cannot be read: {damaged.why}")
        task = self._task
        # It is told once, where it begins, and has no time that anything could be asked of.
        is_here = where.is_first or damaged.offset >= where.start
        timeless = task.since_ms is None and task.until_ms is None
        if task.tells_batches and is_here and timeless:
            offset = max(damaged.offset, where.start)
            yield damaged_row(damaged, offset, where.place, task.schema)
