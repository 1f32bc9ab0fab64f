"""DeleteRecords: a log starts later from now on; what lies below goes afterwards, in slices."""

from __future__ import annotations

from collections.abc import Collection

from application.commits import Commits
from application.long_work import LongAnswer, LongWork, Slices
from application.pending import Pending
from application.topics.catalog import Catalog
from application.topics.loading import WORK_AT_ONCE, load
from application.upkeep.trimming import Trimming
from domain.errors import BrokerError, StorageFailed
from domain.partitions.partition import Partition

#: Where the log starts now, or why no record of it was deleted.
LowWatermark = int | BrokerError


class RecordsToDelete:
    """All of a partition that come before an offset; `UP_TO_HIGH_WATERMARK` means all."""

    __slots__ = ("index", "offset", "topic")

    def __init__(self, topic: str, index: int, offset: int) -> None:
        self.topic = topic
        self.index = index
        self.offset = offset


class DeleteRecordsService:
    """Partitions that nobody has used yet are loaded in slices first; then all move at once."""

    def __init__(
        self, catalog: Catalog, commits: Commits, trimming: Trimming, long_work: LongWork
    ) -> None:
        self._catalog = catalog
        self._commits = commits
        self._trimming = trimming
        self._long_work = long_work

    def delete(self, wanted: list[RecordsToDelete]) -> LongAnswer[list[LowWatermark]]:
        """One answer each, in order, when it is durable."""
        return self._long_work.begin(self._slices(wanted))

    def _slices(self, wanted: list[RecordsToDelete]) -> Slices[list[LowWatermark]]:
        """What cannot be read is told when it is moved."""
        work = 0
        for one in wanted:
            topic = self._catalog.topic(one.topic)
            if topic is not None and not self._catalog.is_loaded(topic, one.index):
                work += load(self._catalog, topic, one.index)[1]
                if work >= WORK_AT_ONCE:
                    yield None
                    work = 0
        return self._move_all(wanted)

    def _move_all(
        self, wanted: list[RecordsToDelete]
    ) -> list[LowWatermark] | Pending[list[LowWatermark]]:
        found = [self._move(one) for one in wanted]
        moving = dict.fromkeys(
            one
            for one in found
            if isinstance(one, Partition) and one.end.start_offset != one.log_start_offset
        )

        if not moving:
            return [_low_watermark(one, moving, None) for one in found]
        durable: Pending[list[LowWatermark]] = Pending()

        def committed(failure: StorageFailed | None) -> None:
            if failure is None:
                self._trimming.begin(moving)
            durable.resolve([_low_watermark(one, moving, failure) for one in found])

        self._commits.when_committed(committed)
        return durable

    def _move(self, one: RecordsToDelete) -> Partition | BrokerError:
        try:
            partition = self._catalog.existing_partition(one.topic, one.index)
            if partition.delete_records(one.offset):
                self._trimming.stage(partition)
                self._commits.touch(partition)
        except BrokerError as refused:
            return refused.as_value()
        return partition


def _low_watermark(
    one: Partition | BrokerError, moving: Collection[Partition], failure: StorageFailed | None
) -> LowWatermark:
    if isinstance(one, BrokerError):
        return one
    if failure is not None and one in moving:
        return failure.as_value()
    return one.log_start_offset
