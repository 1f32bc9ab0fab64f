"""Compaction: which logs of topics with `cleanup.policy=compact` are compacted, as in Kafka.

Every `log.cleaner.backoff.ms` the broker looks for logs that are due, and compacts the dirtiest
first (log_cleaner.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from application.background.job import SLICE, Job
from application.background.loaded import loaded
from application.background.runner import JobResult, Runner
from application.partitions.compaction_metrics import CompactionMetrics, LastPass
from application.partitions.failed_passes import FailedPasses
from application.partitions.reading import first_batch, load_partition, read_headers
from application.ports.clock import Clock
from application.ports.event_log import EventLog
from application.ports.log_store import LogStore
from application.state.catalog import Catalog
from domain.compaction.log_to_clean import LogToClean, Uncleanable, log_to_clean
from domain.configs.broker import BrokerConfig
from domain.configs.settings.definition import LONG_MAX
from domain.errors import BrokerError, NotLeaderOrFollower, StorageFailed
from domain.messages.batch import RecordBatch
from domain.topics.topic import Topic

if TYPE_CHECKING:
    from application.partitions.log_cleaner import LogCleaner


class PartitionState(NamedTuple):
    log: LogToClean
    #: Of the records from the first uncleanable offset on; of all if the cleaner is off.
    uncleanable: Uncleanable | None
    #: None: none since the start.
    last_pass: LastPass | None


class CompactionService:
    def __init__(
        self,
        log: LogStore,
        catalog: Catalog,
        clock: Clock,
        background: Runner,
        config: BrokerConfig,
        events: EventLog,
        make_cleaner: Callable[[], LogCleaner],
    ) -> None:
        """`make_cleaner` is called when the first log is due: many brokers never need it."""
        self._log = log
        self._catalog = catalog
        self._clock = clock
        self._background = background
        self._config = config
        self._events = events
        self._make_cleaner = make_cleaner
        self._cleaner: LogCleaner | None = None
        self._failed = FailedPasses(clock)
        self.metrics = CompactionMetrics(clock)

    def start(self) -> None:
        if self._config.log_cleaner_enable:
            self._background.every(self._backoff_ms, self._compact)

    def _backoff_ms(self) -> int:
        return max(self._config.log_cleaner_backoff_ms, 1)

    def state(self, topic: Topic) -> JobResult[list[PartitionState]]:
        """Of the partitions that can be read; none without `cleanup.policy=compact`."""
        return self._background.run(self._state(topic), ends_when_abandoned=True)

    def _state(self, topic: Topic) -> Job[list[PartitionState]]:
        found: list[PartitionState] = []
        if self._catalog.config(topic).compacted:
            for index, partition_id in enumerate(topic.partition_ids):
                with suppress(NotLeaderOrFollower, StorageFailed):
                    log = yield from self._look(topic, index)
                    if log is not None:
                        last = self.metrics.last_passes.get(partition_id)
                        found.append(PartitionState(log, self._uncleanable(log), last))
                yield SLICE
        return found

    def _uncleanable(self, log: LogToClean) -> Uncleanable | None:
        if self._config.log_cleaner_enable:
            return log.uncleanable
        return Uncleanable.CLEANER_IS_OFF

    # ---- which logs

    def _compact(self) -> Job[None]:
        failed = self._failed.waiting()
        self.metrics.max_delay_ms = 0
        yield from self._clean_all(failed)
        there = {topic.partition_ids[index] for topic, index in self._compacted()}
        self._failed.retain(there)
        uncleanable = [
            dirty_bytes for partition_id, dirty_bytes in failed.items() if partition_id in there
        ]
        self.metrics.uncleanable = len(uncleanable)
        self.metrics.uncleanable_bytes = sum(uncleanable)

    def _clean_all(self, failed: dict[int, int]) -> Job[None]:
        """Until no log is due, or a commit fails.

        `failed` gets the partitions that cannot be compacted, with their dirty bytes.
        """
        while due := (yield from self._due(failed)):
            for found in due:
                if not (yield from self._clean(found)):
                    failed[found.partition.partition_id] = found.cleanable_bytes
                    if found.partition.broken is not None:
                        # Produce requests in that commit failed, too, though the disk may have
                        # room for them.
                        yield SLICE  # the runner backs off
                        return

    def _due(self, failed: dict[int, int]) -> Job[list[LogToClean]]:
        """The dirtiest first; without those that failed in this run, or wait."""
        due: list[LogToClean] = []
        largest_ratio, longest_delay_ms = 0.0, 0
        partition_ids: set[int] = set()
        for topic, index in self._compacted():
            partition_id = topic.partition_ids[index]
            partition_ids.add(partition_id)
            if partition_id not in failed:
                try:
                    found = yield from self._look(topic, index)
                except NotLeaderOrFollower:
                    continue  # its leader compacts it
                except StorageFailed as failure:
                    failed[partition_id] = 0  # unknown
                    self._fail(topic.name, index, partition_id, 0, failure)
                    continue
                if found is not None:
                    largest_ratio = max(largest_ratio, found.dirty_ratio)
                    longest_delay_ms = max(longest_delay_ms, found.delay_ms)
                    if found.is_due:
                        due.append(found)
            yield SLICE
        self.metrics.looked(partition_ids, largest_ratio, longest_delay_ms)
        return sorted(due, key=attrgetter("dirty_ratio"), reverse=True)

    def _compacted(self) -> Iterator[tuple[Topic, int]]:
        return self._catalog.places(attrgetter("compacted"))

    def _look(self, topic: Topic, index: int) -> Job[LogToClean | None]:
        partition = yield from load_partition(self._catalog, topic, index)
        if partition is None:
            return None
        found, config = log_to_clean(partition), partition.config
        if not found.cleanable_bytes:
            return found
        now_ms = self._clock.now_ms()
        if config.min_compaction_lag_ms:
            found = found.limited((yield from self._first_young(found, now_ms)))
        if config.max_compaction_lag_ms < LONG_MAX:
            for header in (
                yield from read_headers(
                    self._log, partition.partition_id, found.first_dirty_offset, 1
                )
            ):
                found = found.overdue(RecordBatch(memoryview(header)).max_timestamp, now_ms)
        return found

    def _first_young(self, found: LogToClean, now_ms: int) -> Job[int]:
        """The offset of the first batch that is younger than `min.compaction.lag.ms`."""
        partition, end = found.partition, found.first_uncleanable_offset
        oldest = now_ms - partition.config.min_compaction_lag_ms + 1
        position = yield from loaded(lambda: self._log.at_timestamp(partition.partition_id, oldest))
        start = max(position, found.first_dirty_offset)
        #: A batch without a timestamp is as old as the next one that has a timestamp.
        first_young: int | None = None

        def is_young(batch: RecordBatch) -> bool:
            nonlocal first_young
            if 0 <= batch.max_timestamp < oldest:
                first_young = None
            elif first_young is None:
                first_young = batch.base_offset
            return batch.max_timestamp >= oldest

        yield from first_batch(self._log, partition.partition_id, start, end, is_young)
        return end if first_young is None else first_young

    # ---- one pass

    def _clean(self, found: LogToClean) -> Job[bool]:
        """False if it failed, or was cut."""
        partition, begun_ms = found.partition, self._clock.monotonic_ms()
        try:
            if self._cleaner is None:
                self._cleaner = self._make_cleaner()
            stats = yield from self._cleaner.clean(found)
        except Exception as failure:  # also a bug: the other logs are compacted
            place = partition.topic, partition.index, partition.partition_id
            self._fail(*place, found.cleanable_bytes, failure)
            return False
        if stats is None:
            return False
        self._failed.remove(partition.partition_id)
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

    def _fail(
        self, topic: str, index: int, partition_id: int, dirty_bytes: int, failure: Exception
    ) -> None:
        error = failure.message if isinstance(failure, BrokerError) else failure
        if self._failed.add(partition_id, dirty_bytes, str(error), self._backoff_ms()):
            self._events.warning("log_compaction_failed", topic=topic, partition=index, error=error)
