"""DeleteRecords: a log starts later from now on; what lies below goes afterwards, in slices."""

from __future__ import annotations

from collections.abc import Collection

from application.commits import Commits
from application.pending import Pending
from application.ports.scheduler import Scheduler
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


class Deleting(Pending[list[LowWatermark] | Exception]):
    """One request's; resolved with a fault of ours where there is one.

    `to_load`: what is still to be loaded before anything is moved.
    """

    def __init__(self, wanted: list[RecordsToDelete]) -> None:
        super().__init__()
        self.wanted = wanted
        self.to_load = iter(wanted)


class DeleteRecordsService:
    """Partitions that nobody has used yet are loaded in slices first; then all move at once."""

    def __init__(
        self, catalog: Catalog, commits: Commits, trimming: Trimming, scheduler: Scheduler
    ) -> None:
        self._catalog = catalog
        self._commits = commits
        self._trimming = trimming
        self._scheduler = scheduler

    def delete(self, wanted: list[RecordsToDelete]) -> Deleting:
        """One answer each, in order, when it is durable."""
        request = Deleting(wanted)
        self._go_on(request)
        return request

    def _go_on(self, request: Deleting) -> None:
        try:
            if not self._load_slice(request):
                self._scheduler.soon(lambda: self._go_on(request))
                return
            result: list[LowWatermark] | Exception | None = self._move_all(request)
        except Exception as fault:
            result = fault
        if result is not None:
            request.resolve(result)

    def _load_slice(self, request: Deleting) -> bool:
        """True when nothing is left to be loaded; what cannot be read is told when it is moved."""
        work = 0
        for one in request.to_load:
            topic = self._catalog.topic(one.topic)
            if topic is not None and not self._catalog.is_loaded(topic, one.index):
                work += load(self._catalog, topic, one.index)[1]
                if work >= WORK_AT_ONCE:
                    return False
        return True

    def _move_all(self, request: Deleting) -> list[LowWatermark] | None:
        """The answers, where nothing has to become durable first."""
        found = [self._move(one) for one in request.wanted]
        moving = dict.fromkeys(
            one
            for one in found
            if isinstance(one, Partition) and one.start_offset != one.log_start_offset
        )

        def committed(failure: StorageFailed | None) -> None:
            if failure is None:
                self._trimming.begin(moving)
            request.resolve([_low_watermark(one, moving, failure) for one in found])

        if not moving:
            return [_low_watermark(one, moving, None) for one in found]
        self._commits.when_committed(committed)
        return None

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
