"""Produce: appends batches, and stages them for the commit of this pass of the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from application.partitions.opened_batch import (
    check_count,
    decompressed,
    open_times,
    too_many_to_open,
)
from application.ports.checksum import Checksum
from application.ports.clock import Clock
from application.ports.compression import Compression
from application.ports.log_store import LogStore, NotInMemory
from application.ports.pending import Pending
from application.state.catalog import Catalog
from application.state.commits import MOST_STAGED_BYTES, Commits
from application.state.min_insync_replicas import MinInsyncReplicas
from application.state.storage_health import StorageHealth
from domain.compaction.records import find_keyless
from domain.configs.settings.definition import LONG_MAX
from domain.configs.topic import TopicConfig
from domain.errors import (
    BrokerError,
    InvalidRecord,
    InvalidTimestamp,
    NotLeaderOrFollower,
    RecordFault,
    RequestTimedOut,
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
from domain.messages.message import check_lengths, decode_times
from domain.partitions.appended import Appended
from domain.partitions.partition import Partition

#: Default of `message.timestamp.before.max.ms`: no record is too old.
ANY_AGE = LONG_MAX
#: Time to open and compress batches for one commit, which all clients wait for. Further requests
#: wait for the next one,
OPENING_NS_OF_A_COMMIT = 4_000_000
#: but for the batches of a request that has begun, which has this time.
MAX_OPENING_NS_OF_A_COMMIT = 200_000_000

#: Raises unless the transactional batch may be appended to the partition.
Admit = Callable[[Partition, RecordBatch], None]


class ProduceService:
    def __init__(
        self,
        log: LogStore,
        commits: Commits,
        clock: Clock,
        checksum: Checksum,
        compression: Compression,
        storage_health: StorageHealth,
        min_insync_replicas: MinInsyncReplicas,
        catalog: Catalog,
    ) -> None:
        self._storage_health = storage_health
        self._min_insync_replicas = min_insync_replicas
        self._log = log
        self._commits = commits
        self._clock = clock
        self._checksum = checksum
        self._compression = compression
        #: Time since the last commit in which batches were opened and compressed.
        self._opening_ns = 0
        self._catalog = catalog
        storage_health.when_full = self.ask_first
        if storage_health.is_full:
            self.ask_first()

    def append(
        self,
        partition: Partition,
        records: memoryview | None,
        zstd_allowed: bool,
        admit: Admit | None = None,
        waits: bool = True,
        acks_all: bool = True,
    ) -> Appended | BrokerError:
        """Appends the batch of one partition; durable after the next commit.

        Without `admit` transactional batches are refused. With `waits` it raises NotInMemory,
        without any effect but on the transaction, if too many batches are staged for this commit,
        or were opened for it for too long.
        """
        if self._commits.staged_bytes > MOST_STAGED_BYTES:
            if waits:
                self.check_room()
            elif self._commits.staged_bytes > 2 * MOST_STAGED_BYTES:
                return RequestTimedOut("Too much waits for the next commit, try again")
        partition.traffic.appends += 1
        try:
            if acks_all and partition.config.min_insync_replicas > 1:
                self._min_insync_replicas.check(partition)
            batch = parse_single_batch(records)
            if batch.attributes & (TRANSACTIONAL | CODEC_ZSTD):
                _check_attributes(batch, zstd_allowed)
                if batch.attributes & TRANSACTIONAL:
                    if admit is None:
                        raise TransactionalIdNotAuthorized("The request has no transactional id")
                    admit(partition, batch)
            now_ms = self._clock.now_ms()
            if partition.config.opens_batches:
                self._open(batch, partition, now_ms, waits)
            appended = partition.append(batch, now_ms, self._checksum)
        except InvalidTimestamp as refused:
            partition.traffic.failed_appends += 1
            return self._with_faults(refused.as_value(), batch, partition.config, now_ms)
        except BrokerError as refused:
            if isinstance(refused, StorageFailed):
                self._storage_health.unreadable(partition.topic, partition.index, refused)
            partition.traffic.failed_appends += 1
            return refused.as_value()
        if not appended.duplicate:
            self._log.append(
                partition.partition_id,
                appended.last_offset,
                batch.buffer,
                appended.indexed_timestamp,
                appended.begins_segment,
            )
            self._commits.touch(partition, len(batch.buffer))
        return appended

    def check_room(self) -> None:
        """Raises NotInMemory if too many batches are staged for the next commit."""
        if self._commits.staged_bytes > MOST_STAGED_BYTES:
            raise NotInMemory(self._commits.room())

    def ask_first(self) -> None:
        """The disk is full, or the lease is over: from now on each batch is looked at."""
        self.append = self._append_if_admitted  # type: ignore[method-assign]

    def _append_if_admitted(
        self,
        partition: Partition,
        records: memoryview | None,
        zstd_allowed: bool,
        admit: Admit | None = None,
        waits: bool = True,
        acks_all: bool = True,
    ) -> Appended | BrokerError:
        """In place of `append`: before, it costs nothing."""
        refusal: BrokerError | None = None
        try:
            self._catalog.check_lease()
        except NotLeaderOrFollower as refused:
            refusal = refused.as_value()
        if refusal is None and not self._storage_health.admits(len(records or b"")):
            refusal = self._storage_health.refusal()
        if refusal is not None:
            partition.traffic.appends += 1
            partition.traffic.failed_appends += 1
            return refusal
        if not self._storage_health.is_full:
            del self.append
        return ProduceService.append(self, partition, records, zstd_allowed, admit, waits, acks_all)

    def _open(self, batch: RecordBatch, partition: Partition, now_ms: int, waits: bool) -> None:
        """What few topics require: checks of all records, and another compression."""
        config = partition.config
        if batch.size_bytes > config.max_message_bytes:
            raise partition.too_large(batch)
        batch.check_crc(self._checksum)
        codec = config.codec
        if codec == batch.codec or batch.codec > CODEC_ZSTD:
            codec = None
        checks_records = config.compacted or config.timestamp_before_max_ms != ANY_AGE
        if checks_records:
            check_count(batch)
        elif codec is None:
            return
        if waits and self._opening_ns >= OPENING_NS_OF_A_COMMIT:
            partition.traffic.forget_append(refused=False)
            raise NotInMemory(self._next_commit())
        if self._opening_ns >= MAX_OPENING_NS_OF_A_COMMIT:
            raise RequestTimedOut("Too many batches to open at once, try again")
        with self._opening():
            opened = decompressed(batch, self._compression)
            if config.compacted:
                _check_keys(batch, opened, partition)
            else:
                # A producer's error must not disappear in another compression.
                check_lengths(opened, batch.count)
            if config.timestamp_before_max_ms != ANY_AGE and not config.log_append_time:
                _check_times(batch, opened, config, now_ms)
            if codec is not None:
                records = self._compression.compress(codec, opened, config.level)
                batch.recompressed(codec, records, self._checksum)

    @contextmanager
    def _opening(self) -> Iterator[None]:
        """A request may have thousands of batches, each a thousand times larger inside."""
        if not self._opening_ns:
            self._commits.wait(self._committed)
        begun_ns = self._clock.monotonic_ns()
        try:
            yield
        finally:
            self._opening_ns += self._clock.monotonic_ns() - begun_ns

    def _next_commit(self) -> Pending[None]:
        pending: Pending[None] = Pending()
        self._commits.wait(lambda _: pending.resolve(None))
        return pending

    def _committed(self, failure: StorageFailed | None) -> None:
        self._opening_ns = 0

    def _with_faults(
        self, refused: InvalidTimestamp, batch: RecordBatch, config: TopicConfig, now_ms: int
    ) -> BrokerError:
        """Adds the records that are out of range: the header has only the largest timestamp."""
        too_late = self._opening_ns >= MAX_OPENING_NS_OF_A_COMMIT
        if too_late or refused.faults or too_many_to_open(batch):
            return refused
        try:
            with self._opening():
                faults = _timestamp_faults(open_times(batch, self._compression), config, now_ms)
        except BrokerError as unreadable:
            return unreadable.as_value()
        return InvalidTimestamp(refused.message, faults)


def _check_keys(batch: RecordBatch, opened: bytes, partition: Partition) -> None:
    positions = find_keyless(opened, batch.last_offset_delta, batch.count)
    if positions:
        words = (
            "Compacted topic cannot accept message without key in topic partition "
            f"{partition.topic}-{partition.index}"
        )
        keyless = [RecordFault(index, words) for index in positions]
        raise InvalidRecord(_rejected(keyless), tuple(keyless))


def _check_times(batch: RecordBatch, opened: bytes, config: TopicConfig, now_ms: int) -> None:
    times = decode_times(opened, 0, batch.base_timestamp, batch.count)
    faults = _timestamp_faults(times, config, now_ms)
    if faults:
        raise InvalidTimestamp(
            "One or more records have been rejected due to invalid timestamp", faults
        )


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
