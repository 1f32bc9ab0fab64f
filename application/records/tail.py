"""Tail: new records as they are appended, for clients that call `next` repeatedly.

It waits in the fetch purgatory, like a delayed fetch. Records stay in the log until the client
reads them, so a slow client costs no memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from application.background.job import Job
from application.background.runner import JobResult, Runner
from application.ports.log_store import NotInMemory
from application.ports.pending import Pending, resolved
from application.records.browse import BrowseService, range_of
from application.records.filter import ALL_RECORDS, RecordFilter
from application.records.plan import OffsetRange, ScanEnd, ScanPlan
from application.records.scan_worker import RunningScan
from application.state.catalog import Catalog
from application.state.fetch_purgatory import FetchPurgatory
from domain.errors import BrokerError
from domain.partitions.partition import Partition

#: The most of one response.
RECORDS_AT_ONCE = 500
BYTES_AT_ONCE = 256 * 1024
#: Then the scan starts again from its position: no tail occupies a worker for long.
BUDGET_MS = 5000

#: Lines; None at the end, when the broker stops, or a partition was deleted or moved; or an error.
Tailed = bytes | None | BrokerError


class TailService:
    def __init__(
        self, catalog: Catalog, browse: BrowseService, purgatory: FetchPurgatory, background: Runner
    ) -> None:
        self.catalog = catalog
        self.browse = browse
        self.purgatory = purgatory
        self.background = background

    def open(
        self,
        topic_name: str,
        partitions: Sequence[int] | None = None,
        *,
        offset: int | None = None,
        last: int = 0,
        conditions: RecordFilter = ALL_RECORDS,
        data_format: str = "auto",
    ) -> Tail:
        """From the log end, an offset, or the last records of each partition.

        Raises NotInMemory if a partition is used for the first time.
        """
        followed = topic_name if partitions is None else None
        tail = Tail(self, followed, conditions, data_format)
        for each in self.browse.partitions(topic_name, partitions):
            tail.add(each, each.high_watermark - last if offset is None else offset)
        return tail


class Tail:
    def __init__(
        self,
        service: TailService,
        topic_name: str | None,
        conditions: RecordFilter,
        data_format: str,
    ) -> None:
        self._service = service
        #: The topic, if all its partitions are tailed, also new ones.
        self._topic_name = topic_name
        self._filter = conditions
        self._data_format = data_format
        self._partitions: list[Partition] = []
        self._positions: dict[int, int] = {}
        self._result: JobResult[Tailed] | None = None
        self._scan: RunningScan | None = None
        #: While it waits: resolved with True to read on, with False to end.
        self._more: Pending[bool] | None = None

    def add(self, partition: Partition, offset: int) -> None:
        """From the offset, or the nearest one in the log."""
        self._partitions.append(partition)
        self._positions[partition.index] = range_of(partition, offset).start

    def positions(self) -> dict[int, int]:
        """The next offset of each partition."""
        return dict(self._positions)

    def resume_from(self, positions: Mapping[int, int]) -> None:
        """Continues an earlier tail; positions of other partitions are ignored.

        Partitions that were added since then start at their first record.
        """
        for each in self._partitions:
            if positions.get(each.index, -1) >= 0:
                # At most the log end: the topic may have been created again.
                self._positions[each.index] = min(positions[each.index], each.high_watermark)
            elif positions and each.index > max(positions):
                self._positions[each.index] = 0

    def next(self) -> Pending[Tailed]:
        background = self._service.background
        if background.is_over:
            return resolved(None)
        self._result = background.run_later(self._next(), ends_when_abandoned=True)
        return self._result

    def close(self) -> None:
        self._unwatch()
        if self._scan is not None:
            self._scan.close()
        if self._result is not None:
            self._result.abandon()

    # ---- called by the partitions

    def advanced(self, partition: Partition) -> None:
        more = self._unwatch()
        if more is not None:
            # Not a job: jobs end when the broker stops.
            self._service.background.scheduler.soon(lambda: more.resolve(True))

    def finish(self) -> None:
        """The broker is stopping."""
        more = self._unwatch()
        if more is not None:
            more.resolve(False)

    # ---- looking

    def _next(self) -> Job[Tailed]:
        found: Tailed = b""
        while found == b"":
            if not all(map(self._service.catalog.holds, self._partitions)):
                return None
            try:
                self._take_new_partitions()
            except NotInMemory as later:
                yield later.loading
                continue
            except BrokerError as refused:
                return refused.as_value()
            ranges = [range_of(each, self._positions[each.index]) for each in self._partitions]
            if not all(each.is_done for each in ranges):
                found = yield from self._look(ranges)
            elif not (yield self._watch()):
                return None
        return found

    def _look(self, ranges: list[OffsetRange]) -> Job[Tailed]:
        plan = ScanPlan(
            ranges,
            self._filter,
            limit=RECORDS_AT_ONCE,
            max_bytes=BYTES_AT_ONCE,
            data_format=self._data_format,
            budget_ms=BUDGET_MS,
        )
        scan = self._scan = self._service.browse.scan(plan)
        found = b""
        end: ScanEnd | BrokerError | None = None
        while end is None:
            data, end = yield scan.next()
            found += data
        self._scan = None
        if not isinstance(end, ScanEnd):
            return end
        for each in end.ranges:
            self._positions[each.index] = each.start
        return found

    def _take_new_partitions(self) -> None:
        """Raises if there are too many, or one cannot be read."""
        name = self._topic_name
        topic = None if name is None else self._service.catalog.topic(name)
        if topic is not None and len(topic.partition_ids) > len(self._partitions):
            for partition in self._service.browse.partitions(topic.name, None):
                if partition.index not in self._positions:
                    self.add(partition, 0)

    def _watch(self) -> Pending[bool]:
        self._service.purgatory.watch(self._partitions, self)
        self._more = Pending()
        return self._more

    def _unwatch(self) -> Pending[bool] | None:
        more, self._more = self._more, None
        if more is not None:
            self._service.purgatory.unwatch(self._partitions, self)
        return more
