"""ListOffsets: where a log begins and ends, and where a moment lies in it."""

from __future__ import annotations

from application.opened_batch import open_times, too_many_to_open
from application.ports.compression import Compression
from application.ports.log_store import LogStore
from domain.errors import UnsupportedVersion
from domain.messages.batch import HEADER_BYTES, LOG_APPEND_TIME, NO_TIMESTAMP, RecordBatch
from domain.partitions.partition import LEADER_EPOCH, Partition

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6

UNKNOWN_OFFSET = -1

HEADERS_AT_ONCE = 256
#: So many batches with a false header are looked into by one search, not one more.
MAX_PASSED_OVER = 16


class FoundOffset:
    __slots__ = ("leader_epoch", "offset", "timestamp")

    def __init__(
        self, offset: int, timestamp: int = NO_TIMESTAMP, leader_epoch: int = LEADER_EPOCH
    ) -> None:
        self.offset = offset
        self.timestamp = timestamp
        self.leader_epoch = leader_epoch


NOTHING_FOUND = FoundOffset(UNKNOWN_OFFSET, NO_TIMESTAMP, -1)


class ListOffsetsService:
    def __init__(self, log: LogStore, compression: Compression) -> None:
        self._log = log
        self._compression = compression

    def find(self, partition: Partition, timestamp: int, read_committed: bool) -> FoundOffset:
        end = partition.last_stable_offset if read_committed else partition.high_watermark
        if timestamp == LATEST:
            return FoundOffset(end)
        if timestamp in (EARLIEST, EARLIEST_LOCAL):
            return FoundOffset(partition.log_start_offset)
        if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
            return NOTHING_FOUND
        if timestamp == MAX_TIMESTAMP:
            return self._largest_timestamp(partition)
        if timestamp < 0:
            raise UnsupportedVersion(f"There is no special timestamp {timestamp}")
        return self._first_at_or_after(partition, timestamp, end)

    def _largest_timestamp(self, partition: Partition) -> FoundOffset:
        durable = partition.durable
        batch = self._batch_at(partition, durable.max_timestamp_offset)
        if batch is None:
            return NOTHING_FOUND
        if batch.attributes & LOG_APPEND_TIME or too_many_to_open(batch):
            return _at_start_of(batch)
        # The first of those that have it; a producer may claim more than any of its records has.
        offset, timestamp = max(
            open_times(batch, self._compression), key=lambda one: (one[1], -one[0])
        )
        return FoundOffset(offset, timestamp, batch.leader_epoch)

    def _first_at_or_after(self, partition: Partition, timestamp: int, end: int) -> FoundOffset:
        if timestamp > partition.durable.max_timestamp:
            return NOTHING_FOUND
        position = max(
            self._log.at_timestamp(partition.partition_id, timestamp), partition.log_start_offset
        )
        passed_over = 0
        while True:
            headers = self._log.headers(partition.partition_id, position, HEADERS_AT_ONCE)
            for header in headers:
                batch = RecordBatch(memoryview(header))
                if batch.last_offset >= end:
                    return NOTHING_FOUND
                if batch.max_timestamp >= timestamp:
                    found = self._first_in_batch(partition, batch.last_offset, timestamp)
                    if found is not None:
                        return found
                    passed_over += 1
                    if passed_over == MAX_PASSED_OVER:
                        return _at_start_of(batch)
            if not headers:
                return NOTHING_FOUND
            position = batch.last_offset + 1

    def _first_in_batch(
        self, partition: Partition, last_offset: int, timestamp: int
    ) -> FoundOffset | None:
        """None: the producer claimed a later time than any record of the batch has."""
        batch = self._batch_at(partition, last_offset)
        if batch is None:
            return None
        if batch.attributes & LOG_APPEND_TIME or too_many_to_open(batch):
            return _at_start_of(batch)
        for offset, record_timestamp in open_times(batch, self._compression):
            if record_timestamp >= timestamp:
                return FoundOffset(offset, record_timestamp, batch.leader_epoch)
        return None

    def _batch_at(self, partition: Partition, last_offset: int) -> RecordBatch | None:
        if last_offset < 0:
            return None
        data = self._log.read(partition.partition_id, last_offset, last_offset + 1, 0, True)
        return RecordBatch(memoryview(data)) if len(data) >= HEADER_BYTES else None


def _at_start_of(batch: RecordBatch) -> FoundOffset:
    """Exact with a log append time; else the nearest that can be said without a long look."""
    return FoundOffset(batch.base_offset, batch.max_timestamp, batch.leader_epoch)
