"""ListOffsets: where a log begins and ends, and where a moment lies in it."""

from __future__ import annotations

from application.opened_batch import open_batch
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


class FoundOffset:
    __slots__ = ("leader_epoch", "offset", "timestamp")

    def __init__(self, offset: int, timestamp: int = NO_TIMESTAMP, leader_epoch: int = 0) -> None:
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
            return FoundOffset(end, leader_epoch=LEADER_EPOCH)
        if timestamp in (EARLIEST, EARLIEST_LOCAL):
            return FoundOffset(partition.log_start_offset, leader_epoch=LEADER_EPOCH)
        if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
            return NOTHING_FOUND
        if timestamp == MAX_TIMESTAMP:
            return self._largest_timestamp(partition)
        if timestamp < 0:
            raise UnsupportedVersion(f"There is no special timestamp {timestamp}")
        return self._first_at_or_after(partition, timestamp, end)

    def _largest_timestamp(self, partition: Partition) -> FoundOffset:
        durable = partition.durable
        if durable.max_timestamp_offset < 0:
            return NOTHING_FOUND
        return self._in_batch(partition, durable.max_timestamp_offset, durable.max_timestamp)

    def _first_at_or_after(self, partition: Partition, timestamp: int, end: int) -> FoundOffset:
        if timestamp > partition.durable.max_timestamp:
            return NOTHING_FOUND
        position = max(
            self._log.at_timestamp(partition.partition_id, timestamp), partition.log_start_offset
        )
        while True:
            headers = self._log.headers(partition.partition_id, position, HEADERS_AT_ONCE)
            for header in headers:
                batch = RecordBatch(memoryview(header))
                if batch.last_offset >= end:
                    return NOTHING_FOUND
                if batch.max_timestamp >= timestamp:
                    found = self._in_batch(partition, batch.last_offset, timestamp)
                    # A producer may claim a later time than any of its records has.
                    if found is not NOTHING_FOUND:
                        return found
            if not headers:
                return NOTHING_FOUND
            position = batch.last_offset + 1

    def _in_batch(self, partition: Partition, last_offset: int, timestamp: int) -> FoundOffset:
        """The first record at or after the timestamp, in the batch that is known to have one."""
        data = self._log.read(partition.partition_id, last_offset, last_offset + 1, 0, True)
        if len(data) < HEADER_BYTES:
            return NOTHING_FOUND
        batch = RecordBatch(memoryview(data))
        if batch.attributes & LOG_APPEND_TIME:
            return FoundOffset(batch.base_offset, batch.max_timestamp, batch.leader_epoch)
        for message in open_batch(batch, self._compression):
            if message.timestamp >= timestamp:
                return FoundOffset(message.offset, message.timestamp, batch.leader_epoch)
        return NOTHING_FOUND
