"""Retention: removes batches that `retention.ms` and `retention.bytes` do not retain.

Every `log.retention.check.interval.ms` it reads headers from the oldest batch on, in slices, until
a batch stays; without a limit of size the timestamp index skips nearly all that have expired. The
batch that stays is remembered: until it expires, its partition is neither read nor loaded. Log
starts move as with DeleteRecords, those of many partitions in one commit.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from operator import attrgetter
from typing import NamedTuple

from application.background.job import COMMIT, SLICE, Job
from application.background.loaded import loaded
from application.background.runner import JobResult, Runner
from application.partitions.reading import (
    HEADERS_PER_STEP,
    first_batch,
    load_partition,
    read_headers,
)
from application.partitions.trimming import Trimming
from application.ports.clock import Clock
from application.ports.event_log import EventLog
from application.ports.log_store import LogStore
from application.state.catalog import Catalog
from application.state.commits import Commits
from domain.configs.broker import BrokerConfig
from domain.configs.topic import TopicConfig
from domain.errors import NotLeaderOrFollower, StorageFailed
from domain.messages.batch import RecordBatch
from domain.partitions.partition import Partition
from domain.partitions.retention import Expired, Front, Oldest, Reason, Retention, front_of
from domain.topics.topic import Topic

#: Log starts that move in one commit.
PARTITIONS_PER_COMMIT = 100
#: Looks at a partition that compaction changes meanwhile, in one run.
MOST_LOOKS = 10


class Outlook(NamedTuple):
    """What retention does next with a partition."""

    partition_index: int
    size_bytes: int
    #: The largest of its oldest batch with records; None without one, or without a timestamp.
    oldest_timestamp: int | None
    #: The first check after this time removes that batch; None: no check, as things are.
    expires_ms: int | None


class _Found(NamedTuple):
    partition: Partition
    config: TopicConfig
    expired: Expired


class _Removed:
    """From a topic, in one run. Offsets are not counted as records: compaction leaves gaps."""

    __slots__ = ("offsets", "partitions")

    def __init__(self) -> None:
        self.partitions = self.offsets = 0


class RetentionService:
    def __init__(
        self,
        log: LogStore,
        catalog: Catalog,
        commits: Commits,
        trimming: Trimming,
        clock: Clock,
        background: Runner,
        config: BrokerConfig,
        events: EventLog,
    ) -> None:
        self._log = log
        self._catalog = catalog
        self._commits = commits
        self._trimming = trimming
        self._clock = clock
        self._background = background
        self._interval_ms = config.log_retention_check_interval_ms
        self._events = events
        #: By partition id.
        self._oldest: dict[int, Oldest] = {}
        #: As offsets that log starts have passed, since the start.
        self.expired_records = Counter[Reason]()

    def start(self) -> None:
        self._background.every(self._interval_ms, self._expire)

    def outlook(self, topic: Topic) -> JobResult[list[Outlook]]:
        """Of the partitions that can be read."""
        return self._background.run(self._outlook(topic), ends_when_abandoned=True)

    def _outlook(self, topic: Topic) -> Job[list[Outlook]]:
        found: list[Outlook] = []
        for index in range(len(topic.partition_ids)):
            with suppress(NotLeaderOrFollower, StorageFailed):
                partition = yield from load_partition(self._catalog, topic, index)
                if partition is not None:
                    found.append((yield from self._outlook_of(partition)))
            yield SLICE
        return found

    def _outlook_of(self, partition: Partition) -> Job[Outlook]:
        found = yield from first_batch(
            self._log,
            partition.partition_id,
            partition.log_start_offset,
            partition.high_watermark,
            lambda batch: batch.count > 0,  # compaction may have left it without records
        )
        size_bytes = partition.durable.size_bytes
        if found is None:
            return Outlook(partition.index, size_bytes, None, None)
        oldest = _oldest(None, found)
        return Outlook(
            partition.index,
            size_bytes,
            oldest.max_timestamp if oldest.max_timestamp >= 0 else None,
            oldest.expires_ms(partition.config, self._clock.now_ms(), size_bytes),
        )

    def _expire(self) -> Job[None]:
        known, self._oldest = self._oldest, {}  # forgets deleted partitions
        removed: dict[tuple[str, Reason], _Removed] = {}
        found: list[_Found] = []
        for topic, index in self._catalog.places(attrgetter("limits_retention")):
            try:
                one = yield from self._look(topic, index, known.get(topic.partition_ids[index]))
            except NotLeaderOrFollower:
                continue  # its leader removes them
            except StorageFailed as unreadable:
                self._commits.storage_health.unreadable(topic.name, index, unreadable)
                yield unreadable.as_value()
                continue
            if one is not None:
                found.append(one)
            # A pass of compaction could make the log smaller than `retention.bytes` meanwhile.
            at_once = one is not None and one.config.compacted
            if at_once or len(found) == PARTITIONS_PER_COMMIT:
                yield from self._remove(found, removed)
                found = []
            yield SLICE
        yield from self._remove(found, removed)
        for (name, reason), sums in removed.items():
            self._events.info(
                "records_expired",
                topic=name,
                partitions=sums.partitions,
                reason=reason.value,
                offsets=sums.offsets,
            )

    def _look(self, topic: Topic, index: int, known: Oldest | None) -> Job[_Found | None]:
        partition_id = topic.partition_ids[index]
        config, now_ms = self._catalog.config(topic), self._clock.now_ms()
        partition = self._catalog.loaded_partition(topic, index)
        if partition is None:
            if known is None:
                known = yield from self._first(partition_id)
            if known is None:
                return None  # it is empty
            expires = known.may_expire(config, now_ms, None)
        else:
            expires = (
                known is None
                or known.front != front_of(partition)
                or partition.broken is not None
                or known.may_expire(config, now_ms, partition.end.size_bytes)
            )
        if known is not None:
            self._oldest[partition_id] = known
        return (yield from self._expired(topic, index, now_ms)) if expires else None

    def _first(self, partition_id: int) -> Job[Oldest | None]:
        for header in (yield from read_headers(self._log, partition_id, 0, 1)):
            return _oldest(None, RecordBatch(memoryview(header)))
        return None

    def _expired(self, topic: Topic, index: int, now_ms: int) -> Job[_Found | None]:
        for _ in range(MOST_LOOKS):
            partition = yield from load_partition(self._catalog, topic, index)
            if partition is None:
                return None
            end, front = partition.end, front_of(partition)
            found = yield from self._expired_in(partition, now_ms)
            if end is partition.end and front == front_of(partition):
                return found
            # Batches were removed meanwhile, and their sizes may count twice.
        return None

    def _expired_in(self, partition: Partition, now_ms: int) -> Job[_Found | None]:
        config, front = partition.config, front_of(partition)
        expired_to = 0
        if config.retention_bytes < 0:
            oldest = now_ms - config.retention_ms
            expired_to = yield from loaded(
                lambda: self._log.at_timestamp(partition.partition_id, oldest)
            )
            expired_to = min(expired_to, partition.high_watermark)
        retention = Retention(partition, now_ms, expired_to)
        stays = yield from self._read(partition, retention, expired_to)
        expired = retention.expired
        if stays is not None:
            self._oldest[partition.partition_id] = _oldest(
                front._replace(start_offset=expired.offset) if expired else front, stays
            )
        return _Found(partition, config, expired) if expired else None

    def _read(
        self, partition: Partition, retention: Retention, offset: int
    ) -> Job[RecordBatch | None]:
        """The first batch that stays; None if all expire, or at the high watermark."""
        limit = 1
        while headers := (
            yield from read_headers(self._log, partition.partition_id, offset, limit)
        ):
            for header in headers:
                batch = RecordBatch(memoryview(header))
                if batch.last_offset >= partition.high_watermark:
                    return None
                if not retention.add(batch):
                    return batch
                offset = batch.last_offset + 1
            limit = HEADERS_PER_STEP
            yield SLICE
        return None

    def _remove(
        self, found: list[_Found], removed: dict[tuple[str, Reason], _Removed]
    ) -> Job[None]:
        moved = [(one, offsets) for one in found if (offsets := self._move(one))]
        if not moved or (yield COMMIT) is not None:
            return
        self._trimming.begin(one.partition for one, _ in moved)
        for (partition, _, expired), offsets in moved:
            sums = removed.setdefault((partition.topic, expired.reason), _Removed())
            sums.partitions += 1
            sums.offsets += offsets
            self.expired_records[expired.reason] += offsets

    def _move(self, one: _Found) -> int:
        """By how many offsets; 0 if others have changed the partition: the next run looks again."""
        partition, before = one.partition, one.partition.end.start_offset
        if (
            not self._catalog.holds(partition)
            or partition.broken is not None
            or partition.config is not one.config
            or not partition.move_log_start(one.expired.offset)
        ):
            return 0
        self._trimming.stage(partition)
        self._commits.touch(partition)
        return one.expired.offset - before


def _oldest(front: Front | None, batch: RecordBatch) -> Oldest:
    return Oldest(front, batch.max_timestamp, batch.size_bytes)
