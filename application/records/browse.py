"""Browse: plans scans of records, and starts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from application.background.runner import Runner
from application.ports.clock import Clock
from application.ports.compression import Compression
from application.ports.log_store import LogStore
from application.ports.transaction_index import TransactionIndex
from application.records.cursor import read_cursor
from application.records.plan import MAX_PARTITIONS, OffsetRange, ScanPlan
from application.records.scan_worker import RunningScan, ScanWorkers
from application.records.sliced import SlicedScan
from application.records.transaction_states import TransactionalScan
from application.state.catalog import Catalog
from domain.errors import BrokerError, InvalidRequest, UnknownTopicOrPartition
from domain.partitions.partition import Partition


class BrowseService:
    def __init__(
        self,
        catalog: Catalog,
        log: LogStore,
        transaction_index: TransactionIndex,
        compression: Compression,
        clock: Clock,
        background: Runner,
        workers: ScanWorkers | None,
    ) -> None:
        self._catalog = catalog
        self._log = log
        self._transaction_index = transaction_index
        self._compression = compression
        self._clock = clock
        self._background = background
        self._workers = workers

    def plan(
        self,
        topic_name: str,
        partitions: Sequence[int] | None,
        requested: ScanPlan,
        offset: int | None = None,
        cursor: str | None = None,
    ) -> ScanPlan:
        """Adds the ranges of committed offsets. Raises if the request is invalid, and NotInMemory
        if a partition is used for the first time.

        `offset` is the start, in either direction; without it, the log start or the log end.
        """
        ranges = [range_of(each) for each in self.partitions(topic_name, partitions)]
        if cursor is not None:
            left = read_cursor(cursor, requested.newest_first)
            ranges = [each for each in ranges if each.index in left]
            for each in ranges:
                each.narrow(*left[each.index])
        elif offset is not None:
            for each in ranges:
                if requested.newest_first:
                    each.narrow(each.start, offset + 1)
                else:
                    each.narrow(offset, each.end)
        return replace(requested, ranges=ranges)

    def partitions(self, topic_name: str, numbers: Sequence[int] | None) -> list[Partition]:
        topic = self._catalog.topic(topic_name)
        if topic is None:
            raise UnknownTopicOrPartition(f"There is no topic {topic_name}")
        indexes = range(len(topic.partition_ids)) if numbers is None else sorted(set(numbers))
        if len(indexes) > MAX_PARTITIONS:
            raise InvalidRequest(
                f"At most {MAX_PARTITIONS} partitions can be searched at once: choose some"
            )
        self._catalog.load((topic_name, index) for index in indexes)
        found = []
        for index in indexes:
            partition = self._catalog.loaded_now(topic, index)
            if partition is None:
                raise UnknownTopicOrPartition(f"{topic_name} has no partition {index}")
            found.append(partition)
        return found

    def scan(self, plan: ScanPlan) -> RunningScan:
        if not plan.transactions:
            return self._scan(plan)
        loaded = (self._catalog.partition_by_id(each.partition_id) for each in plan.ranges)
        partitions = {each.index: each for each in loaded if each is not None}
        return TransactionalScan(self._scan(plan), partitions, self._transaction_index)

    def _scan(self, plan: ScanPlan) -> RunningScan:
        return SlicedScan(
            plan,
            self._log,
            self._compression,
            self._clock,
            self._background,
            self._workers,
            lambda: self._unavailable_error(plan),
        )

    def _unavailable_error(self, plan: ScanPlan) -> BrokerError | None:
        found = (self._catalog.unavailable_error(each.partition_id) for each in plan.ranges)
        return next(filter(None, found), None)


def range_of(partition: Partition, start: int = 0) -> OffsetRange:
    """Committed offsets from `start` on."""
    end = partition.high_watermark
    start = min(max(start, partition.log_start_offset), end)
    return OffsetRange(partition.index, partition.partition_id, start, end, end)
