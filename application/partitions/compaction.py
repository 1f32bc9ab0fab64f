"""Compaction: replaces batches of topics with `cleanup.policy=compact`, as Kafka's log cleaner.

Every `log.cleaner.backoff.ms` it looks for logs that are due, and compacts the dirtiest first. A
worker process reads a log and computes; here its replacements are staged, one in each commit. A
small log is compacted here, in slices, and any log if no worker can start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

from application.background.job import COMMIT, SLICE, Job
from application.background.runner import Runner
from application.background.worker import RunningWork, WorkerPart
from application.partitions.cleaning import (
    CleaningEnd,
    CleaningJob,
    CleaningWorkers,
    Throttle,
    decode_replacements,
    make_codecs,
)
from application.partitions.compaction_metrics import CompactionMetrics, LastPass
from application.ports.clock import Clock
from application.ports.compression import Compression
from application.ports.event_log import EventLog
from application.ports.log_store import LogStore, NotInMemory
from application.ports.partition_repository import PartitionRepository
from application.ports.pending import Pending
from application.state.catalog import Catalog
from application.state.commits import Commits
from domain.compaction.cleaner import Cleaner, CleaningPlan, Replacement
from domain.compaction.log_to_clean import LogToClean, log_to_clean
from domain.configs.broker import BrokerConfig
from domain.configs.settings.definition import LONG_MAX
from domain.errors import BrokerError, NotLeaderOrFollower, StorageFailed
from domain.messages.batch import Checksum, RecordBatch, last_offset_of
from domain.partitions.partition import Partition
from domain.partitions.producers import ProducerState
from domain.topics.topic import Topic

#: A smaller log is compacted on the loop: a process would take longer to start.
SMALL_LOG_BYTES = 1 << 20
#: Of one read on the loop: a millisecond or two.
READ_BYTES_HERE = 32 << 10
MAX_READ_BYTES = 1 << 20
HEADERS_PER_STEP = 128


@dataclass(slots=True)
class PartitionState:
    index: int
    first_dirty_offset: int
    dirty_ratio: float
    #: None: none since the start.
    last_pass: LastPass | None


class CompactionService:
    def __init__(
        self,
        log: LogStore,
        catalog: Catalog,
        partitions: PartitionRepository,
        commits: Commits,
        clock: Clock,
        background: Runner,
        config: BrokerConfig,
        events: EventLog,
        compression: Compression,
        checksum: Checksum,
        workers: CleaningWorkers | None,
    ) -> None:
        self._log = log
        self._catalog = catalog
        self._partitions = partitions
        self._commits = commits
        self._clock = clock
        self._background = background
        self._config = config
        self._events = events
        self._codecs = make_codecs(compression, checksum)
        self._workers = workers
        self._running: RunningWork[CleaningEnd] | None = None
        self.metrics = CompactionMetrics(clock)
        background.at_end(self._close)

    def start(self) -> None:
        if self._config.log_cleaner_enable:
            interval_ms = max(self._config.log_cleaner_backoff_ms, 1)
            self._background.every(interval_ms, self._compact)

    def _close(self) -> None:
        if self._running is not None:
            self._running.close()

    def state(self, topic: Topic) -> list[PartitionState]:
        """Of partitions in use; with `cleanup.policy=compact` all are, after the first look."""
        found: list[PartitionState] = []
        for index in range(len(topic.partition_ids)):
            partition = self._catalog.loaded_partition(topic, index)
            if partition is not None and partition.broken is None:
                log = log_to_clean(partition)
                last = self.metrics.last_passes.get(partition.partition_id)
                found.append(PartitionState(index, log.first_dirty_offset, log.dirty_ratio, last))
        return found

    # ---- which logs

    def _compact(self) -> Job[None]:
        """Until no log is due."""
        failed: set[int] = set()
        while due := (yield from self._due(failed)):
            for found in due:
                if not (yield from self._clean(found)):
                    failed.add(found.partition.partition_id)
        self.metrics.uncleanable = sum(
            topic.partition_ids[index] in failed for topic, index in self._compacted()
        )

    def _due(self, failed: set[int]) -> Job[list[LogToClean]]:
        """The dirtiest first; without those that failed in this run."""
        due: list[LogToClean] = []
        largest_ratio = 0.0
        partition_ids: set[int] = set()
        for topic, index in self._compacted():
            partition_ids.add(topic.partition_ids[index])
            if topic.partition_ids[index] not in failed:
                try:
                    found = yield from self._look(topic, index)
                except NotLeaderOrFollower:
                    continue  # its leader compacts it
                except StorageFailed:
                    failed.add(topic.partition_ids[index])
                    continue
                if found is not None:
                    largest_ratio = max(largest_ratio, found.dirty_ratio)
                    if found.is_due:
                        due.append(found)
            yield SLICE
        self.metrics.looked(partition_ids, largest_ratio)
        return sorted(due, key=attrgetter("dirty_ratio"), reverse=True)

    def _compacted(self) -> Iterator[tuple[Topic, int]]:
        """Partitions of compacted topics, as they are now: others run between two of them."""
        for listed in list(self._catalog):
            for index in range(len(listed.partition_ids)):
                topic = self._catalog.topic_by_id(listed.topic_id)
                if topic is None or not self._catalog.config(topic).compacted:
                    break
                yield topic, index

    def _look(self, topic: Topic, index: int) -> Job[LogToClean | None]:
        partition: Partition | None = None
        while partition is None:
            if self._catalog.topic_by_id(topic.topic_id) is None:
                return None
            try:
                partition = self._catalog.partition(topic, index, waits=False)
            except NotInMemory as later:
                yield later.loading
        found, config = log_to_clean(partition), partition.config
        if not found.cleanable_bytes:
            return found
        now_ms = self._clock.now_ms()
        if config.min_compaction_lag_ms:
            found = found.limited((yield from self._first_young(found, now_ms)))
        if config.max_compaction_lag_ms < LONG_MAX:
            for header in (yield from self._headers(partition, found.first_dirty_offset, 1)):
                found = found.overdue(RecordBatch(memoryview(header)).max_timestamp, now_ms)
        return found

    def _first_young(self, found: LogToClean, now_ms: int) -> Job[int]:
        """The offset of the first batch that is younger than `min.compaction.lag.ms`."""
        partition, end = found.partition, found.first_uncleanable_offset
        oldest = now_ms - partition.config.min_compaction_lag_ms + 1
        position = max(
            self._log.at_timestamp(partition.partition_id, oldest), found.first_dirty_offset
        )
        while position < end:
            headers = yield from self._headers(partition, position, HEADERS_PER_STEP)
            for batch in (RecordBatch(memoryview(header)) for header in headers):
                if batch.max_timestamp >= oldest:
                    return batch.base_offset
                position = batch.last_offset + 1
            if not headers:
                break
            yield SLICE
        return end

    def _headers(self, partition: Partition, offset: int, limit: int) -> Job[list[bytes]]:
        while True:
            try:
                return self._log.headers(partition.partition_id, offset, limit)
            except NotInMemory as later:
                yield later.loading

    # ---- one pass

    def _clean(self, found: LogToClean) -> Job[bool]:
        """False if it failed, or was cut."""
        partition, begun_ms = found.partition, self._clock.monotonic_ms()
        job = yield from self._job(found)
        try:
            work = None
            if self._workers is not None and _size_of(found) > SMALL_LOG_BYTES:
                work = self._workers.start(job, self._log)
            if work is None:
                end = yield from self._clean_here(partition, job)
            else:
                end = yield from self._clean_there(partition, work)
        except BrokerError as failure:
            self._events.warning(
                "log_compaction_failed",
                topic=partition.topic,
                partition=partition.index,
                error=failure.message,
            )
            return False
        if end is None or not self._goes_on(partition):
            return False
        stats = end.stats
        partition.cleaned_up_to(end.end_offset, stats.bytes_written)
        self._commits.touch(partition)
        if (yield COMMIT) is not None:
            return False
        took_ms = self._clock.monotonic_ms() - begun_ms
        self.metrics.cleaned(partition.partition_id, stats, took_ms)
        self._events.info(
            "log_compacted",
            topic=partition.topic,
            partition=partition.index,
            records_removed=stats.messages_read - stats.messages_written,
            bytes_before=stats.bytes_read,
            bytes_after=stats.bytes_written,
            ms=took_ms,
            unreadable_batches=stats.unreadable_batches,
        )
        return True

    def _job(self, found: LogToClean) -> Job[CleaningJob]:
        config, partition = self._config, found.partition
        map_bytes = config.log_cleaner_dedupe_buffer_size * config.log_cleaner_io_buffer_load_factor
        producers: dict[int, int] = {}
        for state in self._partitions.producers(partition.partition_id):
            producers[state.producer_id] = _last_offset_of(state)
            yield SLICE
        for state in partition.producers:  # newer than the snapshots
            producers[state.producer_id] = _last_offset_of(state)
        end = found.first_uncleanable_offset
        producers = {one: offset for one, offset in producers.items() if 0 <= offset < end}
        plan = CleaningPlan(
            partition.log_start_offset,
            found.first_dirty_offset,
            found.first_uncleanable_offset,
            self._clock.now_ms(),
            partition.config.delete_retention_ms,
            producers,
            int(map_bytes),
        )
        return CleaningJob(
            partition.partition_id,
            plan,
            min(config.log_cleaner_io_buffer_size, MAX_READ_BYTES),
            config.log_cleaner_io_max_bytes_per_second,
        )

    def _clean_there(
        self, partition: Partition, work: RunningWork[CleaningEnd]
    ) -> Job[CleaningEnd | None]:
        self._running = work
        try:
            while True:
                part: WorkerPart[CleaningEnd] = yield work.next()
                data, end = part
                for replacement in decode_replacements(data):
                    if not (yield from self._replace(partition, replacement)):
                        return None
                    yield SLICE
                if isinstance(end, BrokerError):
                    raise end
                if end is not None:
                    return end
        finally:
            self._running = None
            work.close()

    def _clean_here(self, partition: Partition, job: CleaningJob) -> Job[CleaningEnd | None]:
        cleaner = Cleaner(job.plan, self._codecs)
        throttle = Throttle(job.max_bytes_per_second, self._clock.monotonic_ms())
        while not cleaner.is_done:
            if not self._goes_on(partition):
                return None
            question = job.partition_id, cleaner.position, cleaner.end_offset, READ_BYTES_HERE, True
            try:
                data = self._log.read(*question)
            except NotInMemory as later:
                yield later.loading
                continue
            replacement = cleaner.advance(data)
            if replacement is not None and not (yield from self._replace(partition, replacement)):
                return None
            pause_ms = throttle.pause_ms(cleaner.stats, self._clock.monotonic_ms())
            yield self._after(pause_ms) if pause_ms else SLICE
        return CleaningEnd(cleaner.stats, cleaner.end_offset)

    def _after(self, pause_ms: int) -> Pending[None]:
        pending: Pending[None] = Pending()
        self._background.after_ms(pause_ms, partial(pending.resolve, None))
        return pending

    def _goes_on(self, partition: Partition) -> bool:
        """False if the topic was deleted, has another policy, or another leader, or must be loaded
        again.
        """
        return (
            self._catalog.holds(partition)
            and partition.broken is None
            and partition.config.compacted
        )

    def _replace(self, partition: Partition, replacement: Replacement) -> Job[bool]:
        """Stages and commits one replacement, but for what is below the log start by now."""
        if not self._goes_on(partition):
            return False
        first, last, batches, indexed = replacement
        start = partition.end.start_offset
        if first < start:
            first = start
            batches = [batch for batch in batches if last_offset_of(batch) >= start]
            indexed = [entry for entry in indexed if entry[1] >= start]
        if last < first:
            return True
        grown = self._log.replace(partition.partition_id, first, last, batches, indexed)
        partition.compacted(grown)
        self._commits.touch(partition)
        return (yield COMMIT) is None


def _last_offset_of(state: ProducerState) -> int:
    return state.batches[-1].last_offset if state.batches else -1


def _size_of(found: LogToClean) -> int:
    return found.clean_bytes + found.cleanable_bytes
