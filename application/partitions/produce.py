"""Produce: appends batches, and stages them for the commit of this pass of the loop."""

from __future__ import annotations

from collections.abc import Iterable

from application.partitions.opened_batch import open_batch, open_times, too_many_to_open
from application.ports.checksum import Checksum
from application.ports.clock import Clock
from application.ports.compression import Compression
from application.ports.log_store import LogStore
from application.state.commits import Commits
from application.state.storage_health import StorageHealth
from domain.compaction.records import read_records
from domain.configs.settings.definition import LONG_MAX
from domain.configs.topic import TopicConfig
from domain.errors import (
    BrokerError,
    InvalidRecord,
    InvalidTimestamp,
    RecordFault,
    StorageFailed,
    TransactionalIdNotAuthorized,
    UnsupportedCompressionType,
)
from domain.messages.batch import (
    CODEC_MASK,
    CODEC_ZSTD,
    NO_TIMESTAMP,
    TRANSACTIONAL,
    RecordBatch,
    parse_single_batch,
)
from domain.partitions.partition import Appended, Partition

#: Default of `message.timestamp.before.max.ms`: no record is too old.
ANY_AGE = LONG_MAX


class ProduceService:
    def __init__(
        self,
        log: LogStore,
        commits: Commits,
        clock: Clock,
        checksum: Checksum,
        compression: Compression,
        storage_health: StorageHealth,
    ) -> None:
        self._storage_health = storage_health
        self._log = log
        self._commits = commits
        self._clock = clock
        self._checksum = checksum
        self._compression = compression

    def append(
        self, partition: Partition, records: memoryview | None, zstd_allowed: bool
    ) -> Appended | BrokerError:
        """Appends the batch of one partition; durable after the next commit."""
        partition.traffic.appends += 1
        try:
            batch = parse_single_batch(records)
            if batch.attributes & (TRANSACTIONAL | CODEC_ZSTD):
                _check_attributes(batch, zstd_allowed)
            now_ms = self._clock.now_ms()
            config = partition.config
            if config.compacted or config.timestamp_before_max_ms != ANY_AGE:
                self._check_records(batch, partition, now_ms)
            appended = partition.append(batch, now_ms, self._checksum)
        except InvalidTimestamp as refused:
            partition.traffic.failed_appends += 1
            return self._with_faults(refused.as_value(), batch, partition.config, now_ms)
        except BrokerError as refused:
            if isinstance(refused, StorageFailed):
                self._storage_health.unreadable(partition, refused)
            partition.traffic.failed_appends += 1
            return refused.as_value()
        if not appended.duplicate:
            self._log.append(
                partition.partition_id,
                appended.last_offset,
                batch.buffer,
                appended.indexed_timestamp,
            )
            self._commits.touch(partition)
        return appended

    def _check_records(self, batch: RecordBatch, partition: Partition, now_ms: int) -> None:
        """Checks keys and timestamps of all records, which few topics require."""
        config = partition.config
        batch.check_crc(self._checksum)
        if config.compacted:
            opened = open_batch(batch, self._compression)
            keys = read_records(opened, 0, batch.last_offset_delta, batch.count).keys
            if None in keys:
                words = (
                    "Compacted topic cannot accept message without key in topic partition "
                    f"{partition.topic}-{partition.index}"
                )
                faults = [RecordFault(at, words) for at, key in enumerate(keys) if key is None]
                raise InvalidRecord(_rejected(faults), tuple(faults))
        if config.timestamp_before_max_ms != ANY_AGE and not config.log_append_time:
            times = enumerate(time for _, time in open_times(batch, self._compression))
            if out_of_range := _timestamp_faults(times, config, now_ms):
                raise InvalidTimestamp(
                    "One or more records have been rejected due to invalid timestamp", out_of_range
                )

    def _with_faults(
        self, refused: InvalidTimestamp, batch: RecordBatch, config: TopicConfig, now_ms: int
    ) -> BrokerError:
        """Adds the records that are out of range: the header has only the largest timestamp."""
        if refused.faults or too_many_to_open(batch):
            return refused
        try:
            faults = _timestamp_faults(open_times(batch, self._compression), config, now_ms)
        except BrokerError as unreadable:
            return unreadable.as_value()
        return InvalidTimestamp(refused.message, faults)


def _rejected(faults: list[RecordFault]) -> str:
    shown = (f"RecordError(batchIndex={f.index}, message='{f.message}')" for f in faults[:3])
    return (
        f"One or more records have been rejected due to {len(faults)} record errors in total, and "
        f"only showing the first three errors at most: [{', '.join(shown)}]"
    )


def _check_attributes(batch: RecordBatch, zstd_allowed: bool) -> None:
    if batch.attributes & CODEC_MASK == CODEC_ZSTD and not zstd_allowed:
        raise UnsupportedCompressionType(
            "Produce requests with version below 7 are not allowed to use ZStandard compression"
        )
    if batch.attributes & TRANSACTIONAL:
        raise TransactionalIdNotAuthorized()


def _timestamp_faults(
    times: Iterable[tuple[int, int]], config: TopicConfig, now_ms: int
) -> tuple[RecordFault, ...]:
    earliest = now_ms - config.timestamp_before_max_ms
    latest = now_ms + config.timestamp_after_max_ms
    return tuple(
        RecordFault(
            index,
            f"Timestamp {timestamp} of message with offset {index} is out of range. "
            f"The timestamp should be within [{earliest}, {latest}]",
        )
        for index, timestamp in times
        if timestamp != NO_TIMESTAMP and not earliest <= timestamp <= latest
    )
