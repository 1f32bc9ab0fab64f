"""Retention: removes batches that `retention.ms` and `retention.bytes` do not retain.

Every `log.retention.check.interval.ms` it reads headers from the oldest batch on, in slices, until
a batch stays. That one is remembered: until it expires, its partition is neither read nor loaded.
Log starts move as with DeleteRecords, those of many partitions in one commit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from application.background.job import COMMIT, SLICE, Job
from application.background.runner import Runner
from application.partitions.trimming import Trimming
from application.ports.clock import Clock
from application.ports.event_log import EventLog
from application.ports.log_store import LogStore, NotInMemory
from application.state.catalog import Catalog
from application.state.commits import Commits
from domain.configs.broker import BrokerConfig
from domain.configs.topic import TopicConfig
from domain.errors import NotLeaderOrFollower, StorageFailed
from domain.messages.batch import RecordBatch
from domain.partitions.partition import Partition
from domain.partitions.retention import Expired, Oldest, Reason, Retention
from domain.topics.topic import Topic

HEADERS_PER_STEP = 128
#: Log starts that move in one commit.
PARTITIONS_PER_COMMIT = 100

_NOT_LOADED = -1


class _Found(NamedTuple):
    partition: Partition
    config: TopicConfig
    expired: Expired


class _Removed:
    """From a topic, in one run."""

    __slots__ = ("partitions", "size_bytes")

    def __init__(self) -> None:
        self.partitions = self.size_bytes = 0


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
        #: Bytes of batches since the start.
        self.expired_bytes = Counter[Reason]()

    def start(self) -> None:
        self._background.every(self._interval_ms, self._expire)

    def _expire(self) -> Job[None]:
        known, self._oldest = self._oldest, {}  # forgets deleted partitions
        removed: dict[tuple[str, Reason], _Removed] = {}
        found: list[_Found] = []
        for topic, index in self._limited():
            try:
                one = yield from self._look(topic, index, known.get(topic.partition_ids[index]))
            except NotLeaderOrFollower:
                continue  # its leader removes them
            except StorageFailed as unreadable:
                yield unreadable.as_value()
                continue
            if one is not None:
                found.append(one)
            if len(found) == PARTITIONS_PER_COMMIT:
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
                bytes=sums.size_bytes,
            )

    def _limited(self) -> Iterator[tuple[Topic, int]]:
        """Partitions with a limit, of topics as they are now: others run between two of them."""
        for listed in list(self._catalog):
            for index in range(len(listed.partition_ids)):
                topic = self._catalog.topic_by_id(listed.topic_id)
                if topic is None or not self._catalog.config(topic).limits_retention:
                    break
                yield topic, index

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
                or known.start_offset != partition.end.start_offset
                or partition.broken is not None
                or known.may_expire(config, now_ms, partition.end.size_bytes)
            )
        if known is not None:
            self._oldest[partition_id] = known
        return (yield from self._expired(topic, index, now_ms)) if expires else None

    def _first(self, partition_id: int) -> Job[Oldest | None]:
        for header in (yield from self._headers(partition_id, 0, 1)):
            return _oldest(_NOT_LOADED, RecordBatch(memoryview(header)))
        return None

    def _expired(self, topic: Topic, index: int, now_ms: int) -> Job[_Found | None]:
        partition = yield from self._loaded(topic, index)
        if partition is None:
            return None
        config, end = partition.config, partition.end
        removed_before = end.appended_bytes - end.size_bytes
        retention = Retention(partition, now_ms)
        stays = yield from self._read(partition, retention)
        expired = retention.expired
        if end is not partition.end or end.appended_bytes - end.size_bytes != removed_before:
            return None  # batches were removed meanwhile, and their sizes may count twice
        if stays is not None:
            start_offset = expired.offset if expired else end.start_offset
            self._oldest[partition.partition_id] = _oldest(start_offset, stays)
        return _Found(partition, config, expired) if expired else None

    def _read(self, partition: Partition, retention: Retention) -> Job[RecordBatch | None]:
        """The first batch that stays; None if all expire, or at the high watermark."""
        offset, limit = 0, 1
        while headers := (yield from self._headers(partition.partition_id, offset, limit)):
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

    def _headers(self, partition_id: int, offset: int, limit: int) -> Job[list[bytes]]:
        while True:
            try:
                return self._log.headers(partition_id, offset, limit)
            except NotInMemory as later:
                yield later.loading

    def _loaded(self, topic: Topic, index: int) -> Job[Partition | None]:
        while self._catalog.topic_by_id(topic.topic_id) is not None:
            try:
                return self._catalog.partition(topic, index, waits=False)
            except NotInMemory as later:
                yield later.loading
        return None

    def _remove(
        self, found: list[_Found], removed: dict[tuple[str, Reason], _Removed]
    ) -> Job[None]:
        moved = [one for one in found if self._move(one)]
        if not moved or (yield COMMIT) is not None:
            return
        self._trimming.begin(one.partition for one in moved)
        for partition, _, expired in moved:
            sums = removed.setdefault((partition.topic, expired.reason), _Removed())
            sums.partitions += 1
            sums.size_bytes += expired.size_bytes
            self.expired_bytes[expired.reason] += expired.size_bytes

    def _move(self, one: _Found) -> bool:
        """False if others have changed the partition meanwhile: the next run looks again."""
        partition = one.partition
        if (
            not self._catalog.holds(partition)
            or partition.broken is not None
            or partition.config is not one.config
            or not partition.move_log_start(one.expired.offset)
        ):
            return False
        self._trimming.stage(partition)
        self._commits.touch(partition)
        return True


def _oldest(start_offset: int, batch: RecordBatch) -> Oldest:
    return Oldest(start_offset, batch.max_timestamp, batch.size_bytes)
