"""Browse: who wants to look into records says what of, and is given a scan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from application.background.runner import Runner
from application.ports.clock import Clock
from application.ports.compression import Compression
from application.ports.log_store import LogStore
from application.records.cursor import read_cursor
from application.records.filter import ALL_RECORDS, RecordFilter
from application.records.plan import MAX_PARTITIONS, OffsetRange, ScanPlan
from application.records.scan_worker import RunningScan, ScanWorkers
from application.records.sliced import SlicedScan
from application.state.catalog import Catalog
from domain.errors import InvalidRequest, UnknownTopicOrPartition
from domain.partitions.partition import Partition


@dataclass(frozen=True, kw_only=True)
class BrowseQuery:
    """`offset` is where to begin, in either direction; without it, at the log's start or end."""

    topic: str
    #: None: all.
    partitions: Sequence[int] | None = None
    offset: int | None = None
    cursor: str | None = None
    wanted: RecordFilter = ALL_RECORDS
    newest_first: bool = False
    limit: int | None = None
    max_bytes: int | None = None
    budget_ms: int | None = None
    form: str = "json"
    data_format: str = "auto"


class BrowseService:
    def __init__(
        self,
        catalog: Catalog,
        log: LogStore,
        compression: Compression,
        clock: Clock,
        background: Runner,
        workers: ScanWorkers | None,
    ) -> None:
        self._catalog = catalog
        self._log = log
        self._compression = compression
        self._clock = clock
        self._background = background
        self._workers = workers

    def plan(self, query: BrowseQuery) -> ScanPlan:
        """Of what is committed by now. Raises what is wrong with the question."""
        ranges = [range_of(each) for each in self.partitions(query.topic, query.partitions)]
        if query.cursor is not None:
            left = read_cursor(query.cursor, query.newest_first)
            ranges = [each for each in ranges if each.index in left]
            for each in ranges:
                each.narrow(*left[each.index])
        elif query.offset is not None:
            for each in ranges:
                if query.newest_first:
                    each.narrow(each.start, query.offset + 1)
                else:
                    each.narrow(query.offset, each.end)
        return ScanPlan(
            ranges,
            query.wanted,
            query.form,
            query.newest_first,
            query.limit,
            query.max_bytes,
            query.data_format,
            query.budget_ms,
        )

    def partitions(self, topic_name: str, wanted: Sequence[int] | None) -> list[Partition]:
        topic = self._catalog.topic(topic_name)
        if topic is None:
            raise UnknownTopicOrPartition(f"There is no topic {topic_name}")
        indexes = range(len(topic.partition_ids)) if wanted is None else sorted(set(wanted))
        if len(indexes) > MAX_PARTITIONS:
            raise InvalidRequest(
                f"At most {MAX_PARTITIONS} partitions can be looked into at once: name some"
            )
        found = []
        for index in indexes:
            partition = self._catalog.partition(topic, index)
            if partition is None:
                raise UnknownTopicOrPartition(f"{topic_name} has no partition {index}")
            found.append(partition)
        return found

    def scan(self, plan: ScanPlan) -> RunningScan:
        return SlicedScan(
            plan,
            self._log,
            self._compression,
            self._clock,
            self._background,
            self._workers,
            lambda: all(self._catalog.has(each.partition_id) for each in plan.ranges),
        )


def range_of(partition: Partition, start: int = 0) -> OffsetRange:
    """What is committed by now, from `start` on."""
    end = partition.high_watermark
    start = min(max(start, partition.log_start_offset), end)
    return OffsetRange(partition.index, partition.partition_id, start, end, end)
