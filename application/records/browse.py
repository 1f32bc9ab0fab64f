"""Browse: who wants to look into records says what of, and is given a scan."""

from __future__ import annotations

from collections.abc import Sequence

from application.background.runner import Runner
from application.ports.clock import Clock
from application.ports.compression import Compression
from application.ports.log_store import LogStore
from application.records.cursor import read_cursor
from application.records.filter import RecordFilter
from application.records.plan import MAX_PARTITIONS, OffsetRange, ScanPlan
from application.records.scan_worker import RunningScan, ScanJob, ScanWorkers
from application.records.sliced import SlicedScan
from application.state.catalog import Catalog
from domain.errors import BrokerError, InvalidRequest, UnknownTopicOrPartition
from domain.partitions.partition import Partition


class BrowseQuery:
    """`offset` is where to begin, in either direction; without it, at the log's start or end."""

    __slots__ = (
        "cursor", "filter", "form", "limit", "max_bytes", "newest_first", "offset", "partitions",
        "topic",
    )  # fmt: skip

    def __init__(
        self,
        topic: str,
        partitions: Sequence[int] | None = None,
        *,
        offset: int | None = None,
        newest_first: bool = False,
        wanted: RecordFilter | None = None,
        limit: int | None = None,
        max_bytes: int | None = None,
        cursor: str | None = None,
        form: str = "json",
    ) -> None:
        self.topic = topic
        self.partitions = partitions
        self.offset = offset
        self.newest_first = newest_first
        self.filter = wanted or RecordFilter()
        self.limit = limit
        self.max_bytes = max_bytes
        self.cursor = cursor
        self.form = form


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
        ranges = [self._range(each) for each in self.partitions(query.topic, query.partitions)]
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
            ranges, query.filter, query.form, query.newest_first, query.limit, query.max_bytes
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

    @staticmethod
    def _range(partition: Partition) -> OffsetRange:
        end = partition.high_watermark
        return OffsetRange(
            partition.index, partition.partition_id, partition.log_start_offset, end, end
        )

    def scan(
        self, plan: ScanPlan, data_format: str = "auto", budget_ms: int | None = None
    ) -> RunningScan:
        job = ScanJob(plan, data_format, budget_ms)
        return SlicedScan(
            job,
            self._log,
            self._compression,
            self._clock,
            self._background,
            self._workers,
            lambda: self._why_gone(plan),
        )

    def _why_gone(self, plan: ScanPlan) -> BrokerError | None:
        found = (self._catalog.why_gone(each.partition_id) for each in plan.ranges)
        return next(filter(None, found), None)
