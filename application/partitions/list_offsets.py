"""ListOffsets: where a log begins and ends, and where a moment lies in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from application.background.job import SLICE, Job
from application.background.runner import JobResult, Runner
from application.partitions.opened_batch import open_times, too_many_to_open
from application.ports.compression import Compression
from application.ports.log_store import LogStore, NotInMemory
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
    """What takes a look at batches, as far as it has come."""

    __slots__ = ("_end", "_position", "partition", "result")

    def __init__(self, partition: Partition, end: int, position: int) -> None:
        self.partition = partition
        self._end = end
        self._position = position
        self.result: FoundOffset | BrokerError | None = None

    def steps(self, log: LogStore, compression: Compression) -> Iterator[None]:
        """`result` is there after the last one. Raises NotInMemory; new steps go on from there."""
        try:
            yield from self._steps(log, compression)
        except StorageFailed as failure:
            self.result = failure.as_value()

    def _steps(self, log: LogStore, compression: Compression) -> Iterator[None]:
        raise NotImplementedError


class TimeSearch(Search):
    """The first record at or after a moment.

    The index leads to a batch close before it, and headers from there on to the one that has it.
    That is a step or two, unless producers lie: a header may claim a later time than any of its
    records has. What was built on that claim is worth nothing then, and every header is looked at.
    """

    __slots__ = ("_timestamp",)

    def __init__(self, partition: Partition, timestamp: int, end: int, position: int) -> None:
        super().__init__(partition, end, position)
        self._timestamp = timestamp

    def _steps(self, log: LogStore, compression: Compression) -> Iterator[None]:
        partition_id = self.partition.partition_id
        while headers := log.headers(partition_id, self._position, HEADERS_AT_ONCE):
            for header in headers:
                batch = RecordBatch(memoryview(header))
                if batch.last_offset >= self._end:
                    self.result = NOTHING_FOUND
                    return
                if batch.max_timestamp >= self._timestamp:
                    whole = batch_at(log, partition_id, batch.last_offset)
                    if whole is not None:
                        # Not what came before the log's start, which may have moved meanwhile.
                        first = self.partition.log_start_offset
                        self.result = _first_in(whole, self._timestamp, first, compression)
                    if self.result is not None:
                        return
                    yield
                self._position = batch.last_offset + 1
            yield
        self.result = NOTHING_FOUND


class LargestSearch(Search):
    """The record with the largest timestamp.

    Where that one is deleted, every header that is left is looked at.
    """

    __slots__ = ("_best", "_best_timestamp", "_scans")

    def __init__(self, partition: Partition, end: int) -> None:
        super().__init__(partition, end, partition.log_start_offset)
        self._scans = False
        self._best = -1
        self._best_timestamp = NO_TIMESTAMP

    def _steps(self, log: LogStore, compression: Compression) -> Iterator[None]:
        if not self._scans:
            self._look(log, compression)
        while self.result is None:
            headers = log.headers(self.partition.partition_id, self._position, HEADERS_AT_ONCE)
            for header in headers:
                batch = RecordBatch(memoryview(header))
                if batch.last_offset >= self._end:
                    self._finish(log, compression)
                    break
                self._compare(batch, log, compression)
                self._position = batch.last_offset + 1
            if not headers:
                self._finish(log, compression)
            yield

    def _look(self, log: LogStore, compression: Compression) -> None:
        first = self.partition.log_start_offset
        offset = self.partition.durable.max_timestamp_offset
        batch = batch_at(log, self.partition.partition_id, offset) if offset >= first else None
        if batch is not None and batch.base_offset >= first:
            self.result = _largest_in(batch, first, compression) or NOTHING_FOUND
        elif first:
            self._scans = True
        else:
            self.result = NOTHING_FOUND

    def _compare(self, batch: RecordBatch, log: LogStore, compression: Compression) -> None:
        timestamp = batch.max_timestamp
        first = self.partition.log_start_offset
        if batch.base_offset < first:  # what is left of it may be older
            whole = batch_at(log, self.partition.partition_id, batch.last_offset)
            left = None if whole is None else _largest_in(whole, first, compression)
            timestamp = NO_TIMESTAMP if left is None else left.timestamp
        if timestamp > self._best_timestamp:
            self._best, self._best_timestamp = batch.last_offset, timestamp

    def _finish(self, log: LogStore, compression: Compression) -> None:
        first = self.partition.log_start_offset
        if 0 <= self._best < first:  # deleted while others were looked at
            self._position, self._best, self._best_timestamp = first, -1, NO_TIMESTAMP
            return
        whole = batch_at(log, self.partition.partition_id, self._best)
        found = None if whole is None else _largest_in(whole, first, compression)
        self.result = found or NOTHING_FOUND


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
        """A search has its result once it was completed."""
        try:
            return self._find(partition, timestamp, read_committed)
        except StorageFailed as failure:
            self._storage_health.unreadable(partition, failure)
            raise

    def _find(
        self, partition: Partition, timestamp: int, read_committed: bool
    ) -> FoundOffset | Search:
        end = partition.last_stable_offset if read_committed else partition.high_watermark
        if timestamp == LATEST:
            return FoundOffset(end, leader_epoch=partition.leader.epoch)
        if timestamp in (EARLIEST, EARLIEST_LOCAL):
            start = partition.log_start_offset
            return FoundOffset(start, leader_epoch=partition.leader_epochs.at(start))
        if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
            return NOTHING_FOUND
        if timestamp == MAX_TIMESTAMP:
            return LargestSearch(partition, end)
        if timestamp < 0:
            raise UnsupportedVersion(f"There is no special timestamp {timestamp}")
        if timestamp > partition.durable.max_timestamp:
            return NOTHING_FOUND
        position = self._log.at_timestamp(partition.partition_id, timestamp)
        return TimeSearch(partition, timestamp, end, max(position, partition.log_start_offset))

    def complete(self, searches: Iterable[Search]) -> JobResult[None] | None:
        """None when all have their results, as nearly always; else it takes more passes."""
        answer = self._background.run(self._search(searches), ends_when_abandoned=True)
        return None if answer.resolved else answer

    def _search(self, searches: Iterable[Search]) -> Job[None]:
        for search in searches:
            steps = search.steps(self._log, self._compression)
            partition = search.partition
            while search.result is None:
                search.result = self._catalog.unavailable_error(
                    partition.partition_id, partition.topic
                )
                try:
                    if search.result is None:
                        next(steps, None)
                except NotInMemory as later:
                    yield later.loading
                    steps = search.steps(self._log, self._compression)
                else:
                    yield SLICE
            if isinstance(search.result, StorageFailed):
                self._storage_health.unreadable(search.partition, search.result)


def _largest_in(
    batch: RecordBatch, first_offset: int, compression: Compression
) -> FoundOffset | None:
    """Of the records from an offset on; None where all of them lie before it."""
    if batch.last_offset < first_offset:
        return None
    if batch.attributes & LOG_APPEND_TIME or too_many_to_open(batch):
        return _at_start_of(batch, first_offset)
    try:
        times = [one for one in open_times(batch, compression) if one[0] >= first_offset]
    except BrokerError:
        return _at_start_of(batch, first_offset)
    # The first of those that have it; a producer may claim more than any of its records has.
    offset, timestamp = max(times, key=lambda one: (one[1], -one[0]), default=(-1, NO_TIMESTAMP))
    if not batch.base_offset <= offset <= batch.last_offset:
        return _at_start_of(batch, first_offset)
    return FoundOffset(offset, timestamp, batch.leader_epoch)


def _first_in(
    batch: RecordBatch, timestamp: int, first_offset: int, compression: Compression
) -> FoundOffset | None:
    """None: no record has the time that the header claims."""
    if batch.last_offset < first_offset:
        return None
    if batch.attributes & LOG_APPEND_TIME or too_many_to_open(batch):
        return _at_start_of(batch, first_offset)
    try:
        for offset, record_timestamp in open_times(batch, compression):
            if not batch.base_offset <= offset <= batch.last_offset:
                return None
            if record_timestamp >= timestamp and offset >= first_offset:
                return FoundOffset(offset, record_timestamp, batch.leader_epoch)
    except BrokerError:
        pass  # nonsense under a good checksum: there is no record to be found
    return None


def batch_at(log: LogStore, partition_id: int, last_offset: int) -> RecordBatch | None:
    if last_offset < 0:
        return None
    data = log.read(partition_id, last_offset, last_offset + 1, 0, True)
    return RecordBatch(memoryview(data)) if len(data) >= HEADER_BYTES else None


def _at_start_of(batch: RecordBatch, first_offset: int = 0) -> FoundOffset:
    """Exact with a log append time; else the nearest that can be said without a long look."""
    offset = max(batch.base_offset, first_offset)
    return FoundOffset(offset, batch.max_timestamp, batch.leader_epoch)
