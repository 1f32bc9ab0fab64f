"""DeleteRecords: moves the log start offset; a background job removes the batches below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from application.background.job import COMMIT, Job, Outcome
from application.background.runner import JobResult, Runner
from application.partitions.reading import load_all
from application.partitions.trimming import Trimming
from application.ports.event_log import EventLog, topic_lines
from application.ports.request_log import NO_CLIENT, Requester
from application.state.catalog import Catalog
from application.state.commits import Commits
from domain.errors import BrokerError, InvalidTopic, StorageFailed
from domain.partitions.partition import Partition
from domain.topics.topic import INTERNAL_TOPICS

#: The new log start offset, or why no record was deleted.
LowWatermark = int | BrokerError


@dataclass(frozen=True, slots=True)
class RecordsToDelete:
    """The records of a partition below an offset; `UP_TO_HIGH_WATERMARK`: all."""

    topic: str
    index: int
    offset: int


class DeleteRecordsService:
    """Loads unused partitions in slices first; then all log starts move in one commit."""

    def __init__(
        self,
        catalog: Catalog,
        commits: Commits,
        trimming: Trimming,
        background: Runner,
        events: EventLog,
    ) -> None:
        self._catalog = catalog
        self._commits = commits
        self._trimming = trimming
        self._background = background
        self._events = events

    def delete(
        self, requested: list[RecordsToDelete], by: Requester = NO_CLIENT
    ) -> JobResult[list[LowWatermark]]:
        """One result per partition, in order, when it is durable."""
        return self._background.run(self._delete(requested, by))

    def _delete(self, requested: list[RecordsToDelete], by: Requester) -> Job[list[LowWatermark]]:
        yield from load_all(self._catalog, ((one.topic, one.index) for one in requested))
        found = [self._move(one) for one in requested]
        moving = dict.fromkeys(
            one
            for one in found
            if isinstance(one, Partition) and one.end.start_offset != one.log_start_offset
        )
        failure: Outcome = None
        if moving:
            failure = yield COMMIT
            if failure is None:
                self._trimming.begin(moving)
                self._log(moving, by)
        return [_low_watermark(one, moving, failure) for one in found]

    def _log(self, moved: Iterable[Partition], by: Requester) -> None:
        for line in topic_lines(Counter(one.topic for one in moved)):
            self._events.info("records_deleted", **line, **by.fields())

    def _move(self, one: RecordsToDelete) -> Partition | BrokerError:
        try:
            partition = self._catalog.existing_partition(one.topic, one.index)
            if partition.topic in INTERNAL_TOPICS:
                raise InvalidTopic(f"Cannot delete records of internal topic {partition.topic}.")
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
