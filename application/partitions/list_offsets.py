"""ListOffsets: log start and end, and offsets by timestamp."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from application.background.job import SLICE, Job, Step
from application.background.loaded import loaded
from application.background.runner import JobResult, Runner
from application.partitions.opened_batch import open_times, too_many_to_open
from application.partitions.reading import read_headers
from application.ports.compression import Compression
from application.ports.log_store import LogStore
from application.ports.pending import Pending
from application.state.catalog import Catalog
from application.state.storage_health import StorageHealth
from domain.errors import BrokerError, StorageFailed, UnsupportedVersion
from domain.messages.batch import HEADER_BYTES, LOG_APPEND_TIME, NO_TIMESTAMP, RecordBatch
from domain.partitions.leader_epochs import NO_EPOCH
from domain.partitions.partition import Partition

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6

UNKNOWN_OFFSET = -1

HEADERS_AT_ONCE = 256

T = TypeVar("T")


class FoundOffset:
    __slots__ = ("leader_epoch", "offset", "timestamp")

    def __init__(
        self, offset: int, timestamp: int = NO_TIMESTAMP, leader_epoch: int = NO_EPOCH
    ) -> None:
        self.offset = offset
        self.timestamp = timestamp
        self.leader_epoch = leader_epoch


NOTHING_FOUND = FoundOffset(UNKNOWN_OFFSET)


class Search:
    """A search that reads batches. `result` is set when all its steps are done."""

    __slots__ = ("partition", "result", "steps")

    def __init__(self, partition: Partition, steps: Job[FoundOffset]) -> None:
        self.partition = partition
        self.steps = steps
        self.result: FoundOffset | BrokerError | None = None


class ListOffsetsService:
    def __init__(
        self,
        catalog: Catalog,
        log: LogStore,
        compression: Compression,
        background: Runner,
        storage_health: StorageHealth,
    ) -> None:
        self._catalog = catalog
        self._storage_health = storage_health
        self._log = log
        self._compression = compression
        self._background = background

    def find(
        self, partition: Partition, timestamp: int, read_committed: bool
    ) -> FoundOffset | Search:
        """Reads nothing from the log. A search has its result after `complete`."""
        end = partition.last_stable_offset if read_committed else partition.high_watermark
        if timestamp == LATEST:
            return FoundOffset(end, leader_epoch=partition.leader.epoch)
        if timestamp in (EARLIEST, EARLIEST_LOCAL):
            start = partition.log_start_offset
            return FoundOffset(start, leader_epoch=partition.leader_epochs.at(start))
        if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
            return NOTHING_FOUND
        if timestamp == MAX_TIMESTAMP:
            return Search(partition, self._largest(partition, end))
        if timestamp < 0:
            raise UnsupportedVersion(f"Unknown special timestamp {timestamp}")
        if timestamp > partition.durable.max_timestamp:
            return NOTHING_FOUND
        return Search(partition, self._first_since(partition, timestamp, end))

    def complete(self, searches: Iterable[Search]) -> JobResult[None] | None:
        """None if all are done at once, as nearly always; others take more passes of the loop."""
        result = self._background.run(self._search(searches), ends_when_abandoned=True)
        return None if result.resolved else result

    def _search(self, searches: Iterable[Search]) -> Job[None]:
        for search in searches:
            partition = search.partition
            while search.result is None:
                search.result = self._catalog.unavailable_error(
                    partition.partition_id, partition.topic
                )
                step: Step | Pending[Any] | StorageFailed = SLICE
                try:
                    if search.result is None:
                        step = next(search.steps)
                except StopIteration as end:
                    search.result = end.value
                except StorageFailed as failure:
                    search.result = failure.as_value()
                    self._storage_health.unreadable(partition.topic, partition.index, failure)
                yield step

    def _first_since(self, partition: Partition, timestamp: int, end: int) -> Job[FoundOffset]:
        """The first record with this timestamp or a later one.

        The index points close before its batch, so that one or two steps find it, unless a producer
        sent a header with a later timestamp than any of its records has: the index then says less,
        and all headers from there on are read.
        """
        position = yield from loaded(
            lambda: self._log.at_timestamp(partition.partition_id, timestamp)
        )
        position = max(position, partition.log_start_offset)
        while headers := (yield from self._headers(partition, position)):
            for header in headers:
                batch = RecordBatch(memoryview(header))
                if batch.last_offset >= end:
                    return NOTHING_FOUND
                if batch.max_timestamp >= timestamp and batch.count:
                    whole = yield from self._batch(partition, batch.last_offset)
                    if whole is not None:
                        # Now: the log start may have moved.
                        first = partition.log_start_offset
                        found = _first_in(whole, timestamp, first, self._compression)
                        if found is not None:
                            return found
                    yield SLICE
                position = batch.last_offset + 1
            yield SLICE
        return NOTHING_FOUND

    def _largest(self, partition: Partition, end: int) -> Job[FoundOffset]:
        """The record with the largest timestamp."""
        offset, timestamp = partition.durable.max_timestamp_offset, partition.durable.max_timestamp
        if timestamp == NO_TIMESTAMP or offset >= end:  # as Kafka: not the largest below the end
            return NOTHING_FOUND
        if offset >= partition.log_start_offset:
            batch = yield from self._batch(partition, offset)
            first = partition.log_start_offset
            if batch is not None and batch.base_offset >= first and _has(batch, timestamp):
                return _largest_in(batch, first, self._compression) or NOTHING_FOUND
        return (yield from self._largest_left(partition, end))

    def _largest_left(self, partition: Partition, end: int) -> Job[FoundOffset]:
        """Reads all headers: the record that had the largest timestamp is deleted, or compacted."""
        position, best, best_timestamp = partition.log_start_offset, -1, NO_TIMESTAMP
        while True:
            headers = yield from self._headers(partition, position)
            for header in headers:
                batch = RecordBatch(memoryview(header))
                if batch.last_offset >= end:
                    headers = []
                    break
                timestamp = batch.max_timestamp if batch.count else NO_TIMESTAMP
                if batch.base_offset < partition.log_start_offset:  # some records are deleted
                    timestamp = (
                        yield from self._largest_of(partition, batch.last_offset)
                    ).timestamp
                if timestamp > best_timestamp:
                    best, best_timestamp = batch.last_offset, timestamp
                position = batch.last_offset + 1
            if not headers:
                found = yield from self._largest_of(partition, best)
                if not 0 <= best < partition.log_start_offset:
                    return found
                # Deleted during the search, which begins again.
                position, best, best_timestamp = partition.log_start_offset, -1, NO_TIMESTAMP
            yield SLICE

    def _largest_of(self, partition: Partition, last_offset: int) -> Job[FoundOffset]:
        """Of the records of one batch that are not deleted."""
        batch = yield from self._batch(partition, last_offset)
        if batch is None:
            return NOTHING_FOUND
        return _largest_in(batch, partition.log_start_offset, self._compression) or NOTHING_FOUND

    def _headers(self, partition: Partition, position: int) -> Job[list[bytes]]:
        return read_headers(self._log, partition.partition_id, position, HEADERS_AT_ONCE)

    def _batch(self, partition: Partition, last_offset: int) -> Job[RecordBatch | None]:
        return loaded(lambda: batch_at(self._log, partition.partition_id, last_offset))


def _has(batch: RecordBatch, timestamp: int) -> bool:
    """Compaction may have removed the record that had it."""
    return batch.max_timestamp == timestamp and batch.count > 0


def _largest_in(
    batch: RecordBatch, first_offset: int, compression: Compression
) -> FoundOffset | None:
    """Among the records from `first_offset` on; None if there is none."""
    if batch.last_offset < first_offset:
        return None
    if _has_one_time(batch) or too_many_to_open(batch):
        return _at_start_of(batch, first_offset)
    try:
        times = [one for one in open_times(batch, compression) if one[0] >= first_offset]
    except BrokerError:
        return _at_start_of(batch, first_offset)
    # The first record that has it: the header of a producer may name a larger timestamp.
    offset, timestamp = max(times, key=lambda one: (one[1], -one[0]), default=(-1, NO_TIMESTAMP))
    if not batch.base_offset <= offset <= batch.last_offset:
        return _at_start_of(batch, first_offset)
    return FoundOffset(offset, timestamp, batch.leader_epoch)


def _first_in(
    batch: RecordBatch, timestamp: int, first_offset: int, compression: Compression
) -> FoundOffset | None:
    """None: the records are older than the header says."""
    if batch.last_offset < first_offset:
        return None
    if _has_one_time(batch) or too_many_to_open(batch):
        return _at_start_of(batch, first_offset)
    try:
        for offset, record_timestamp in open_times(batch, compression):
            if not batch.base_offset <= offset <= batch.last_offset:
                return None
            if record_timestamp >= timestamp and offset >= first_offset:
                return FoundOffset(offset, record_timestamp, batch.leader_epoch)
    except BrokerError:
        pass  # a valid checksum over malformed records
    return None


def _has_one_time(batch: RecordBatch) -> bool:
    """A log append time, and a record at its base offset."""
    return bool(batch.attributes & LOG_APPEND_TIME) and batch.count == batch.last_offset_delta + 1


def batch_at(log: LogStore, partition_id: int, last_offset: int) -> RecordBatch | None:
    if last_offset < 0:
        return None
    data = log.read(partition_id, last_offset, last_offset + 1, 0, True)
    return RecordBatch(memoryview(data)) if len(data) >= HEADER_BYTES else None


def _at_start_of(batch: RecordBatch, first_offset: int = 0) -> FoundOffset:
    """Exact with a log append time; else the best estimate without opening the batch."""
    offset = max(batch.base_offset, first_offset)
    return FoundOffset(offset, batch.max_timestamp, batch.leader_epoch)
