"""Tail: records as they come, for somebody who keeps asking what is next.

It waits as a fetch does: it is told when a partition has gone on, and never looks in vain. What is
not asked for stays in the log, so who reads slowly costs no memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from application.background.job import Job
from application.background.runner import JobResult, Runner
from application.ports.pending import Pending, resolved
from application.records.browse import BrowseQuery, BrowseService
from application.records.filter import RecordFilter
from application.records.plan import OffsetRange, ScanEnd, ScanPlan
from application.records.scan_worker import RunningScan, ScanPart
from application.state.catalog import Catalog
from application.state.watching import Watching
from domain.errors import BrokerError
from domain.partitions.partition import Partition

#: Handed over at once at the most.
RECORDS_AT_ONCE = 500
BYTES_AT_ONCE = 256 * 1024
#: Then it looks again, from where it has come to: no tail keeps a worker for itself.
BUDGET_MS = 5000

#: Lines; None at the end, when the broker stops or the topic is gone; or why it cannot go on.
Tailed = bytes | None | BrokerError


class TailService:
    def __init__(
        self, catalog: Catalog, browse: BrowseService, watching: Watching, background: Runner
    ) -> None:
        self._catalog = catalog
        self._browse = browse
        self._watching = watching
        self._background = background

    def open(
        self,
        topic_name: str,
        partitions: Sequence[int] | None = None,
        *,
        offset: int | None = None,
        last: int = 0,
        wanted: RecordFilter | None = None,
        data_format: str = "auto",
    ) -> Tail:
        """From now, from an offset, or from so many records of each partition before now."""
        query = BrowseQuery(topic_name, partitions, wanted=wanted)
        plan = self._browse.plan(query)
        for each in plan.ranges:
            start = each.end - last if offset is None else min(offset, each.end)
            each.start = max(each.start, start)
        found = self._browse.partitions(topic_name, partitions)
        tail = Tail(
            self._catalog, self._browse, self._watching, self._background, found, plan, data_format
        )
        if partitions is None:
            tail.follow_growth(topic_name)
        return tail


class Tail:
    def __init__(
        self,
        catalog: Catalog,
        browse: BrowseService,
        watching: Watching,
        background: Runner,
        partitions: list[Partition],
        plan: ScanPlan,
        data_format: str,
    ) -> None:
        self._catalog = catalog
        self._browse = browse
        self._watching = watching
        self._background = background
        self._partitions = partitions
        self._plan = plan
        self._data_format = data_format
        self._positions = {each.index: each.start for each in plan.ranges}
        self._result: JobResult[Tailed] | None = None
        self._scan: RunningScan | None = None
        #: While it waits for records: resolved when there are some.
        self._news: Pending[None] | None = None
        self._is_over = False
        #: Whose partitions are all tailed, also those that it gets; None: only some are.
        self._topic_name: str | None = None

    def follow_growth(self, topic_name: str) -> None:
        self._topic_name = topic_name

    def positions(self) -> dict[int, int]:
        """By partition, the offset that comes next."""
        return dict(self._positions)

    def go_on_from(self, positions: Mapping[int, int]) -> None:
        """Where somebody had come to before; of partitions that are not tailed, nothing.

        Those that the topic got since then are new to them from their first record on.
        """
        for each in self._plan.ranges:
            if positions.get(each.index, -1) >= 0:
                # No further than there is anything: the log may be another by now.
                self._positions[each.index] = min(positions[each.index], each.end)
            elif positions and each.index > max(positions):
                self._positions[each.index] = 0

    def next(self) -> Pending[Tailed]:
        if self._background.is_over:
            return resolved(None)
        self._result = self._background.answer_later(self._next(), ends_when_abandoned=True)
        return self._result

    def close(self) -> None:
        self._unwatch()
        if self._scan is not None:
            self._scan.close()
        if self._result is not None:
            self._result.abandon()

    # ---- called by the partitions

    def advanced(self, partition: Partition) -> None:
        self._wake()

    def grown(self, topic_name: str) -> None:
        self._wake()

    def _wake(self) -> None:
        news = self._unwatch()
        if news is not None:
            # Not a job: at the end of the broker, too.
            self._background.scheduler.soon(lambda: news.resolve(None))

    def finish(self) -> None:
        """The broker is stopping."""
        self._is_over = True
        news = self._unwatch()
        if news is not None:
            news.resolve(None)

    # ---- looking

    def _next(self) -> Job[Tailed]:
        found: Tailed = b""
        while found == b"":
            if self._is_over or not all(map(self._catalog.holds, self._partitions)):
                return None
            try:
                self._take_new_partitions()
            except BrokerError as refused:
                return refused.as_value()
            ranges = [self._new_in(each) for each in self._partitions]
            if all(each.is_done for each in ranges):
                yield self._watch()
            else:
                found = yield from self._look(ranges)
        return found

    def _look(self, ranges: list[OffsetRange]) -> Job[Tailed]:
        plan = ScanPlan(ranges, self._plan.filter, limit=RECORDS_AT_ONCE, max_bytes=BYTES_AT_ONCE)
        scan = self._scan = self._browse.scan(plan, self._data_format, BUDGET_MS)
        found, end = b"", None
        while end is None:
            part: ScanPart = yield scan.next()
            found, end = found + part.data, part.end
        self._scan = None
        if not isinstance(end, ScanEnd):
            return end
        for each in end.ranges:
            self._positions[each.index] = each.start
        return found

    def _take_new_partitions(self) -> None:
        """Raises where they have become too many, or one cannot be read."""
        topic = None if self._topic_name is None else self._catalog.topic(self._topic_name)
        if topic is not None and len(topic.partition_ids) > len(self._partitions):
            self._partitions = self._browse.partitions(topic.name, None)
            for partition in self._partitions:
                self._positions.setdefault(partition.index, partition.log_start_offset)

    def _new_in(self, partition: Partition) -> OffsetRange:
        end = partition.high_watermark
        start = max(self._positions[partition.index], partition.log_start_offset)
        return OffsetRange(partition.index, partition.partition_id, min(start, end), end, end)

    def _watch(self) -> Pending[None]:
        self._watching.watch(self._partitions, self)
        if self._topic_name is not None:
            self._watching.watch_topic(self._topic_name, self)
        self._news = Pending()
        return self._news

    def _unwatch(self) -> Pending[None] | None:
        news, self._news = self._news, None
        if news is not None:
            self._watching.unwatch(self._partitions, self)
            if self._topic_name is not None:
                self._watching.unwatch_topic(self._topic_name, self)
        return news
