"""The ranges of a query, resolved once, when Spark plans it."""

from __future__ import annotations

from application.partitions.opened_batch import MAX_OPENED_BYTES
from domain.errors import BrokerError
from domain.messages.batch import LOG_APPEND_TIME, RecordBatch
from domain.messages.message import decode_times
from domain.topics.topic import Topic
from infrastructure.codecs.compression import BatchCompression
from infrastructure.opening import Beside, opened_beside
from infrastructure.storage.errors import StorageUnusable
from interfaces.spark.query.assignment import Assignment
from interfaces.spark.query.bounds import EARLIEST, LATEST, Bound
from interfaces.spark.query.failures import JobFailed, lost
from interfaces.spark.query.filters import Pushed
from interfaces.spark.query.ranges import Place, for_tasks
from interfaces.spark.segments.options import SegmentsOptions
from interfaces.spark.segments.ranges import StoredRange
from interfaces.spark.segments.whole import Damaged, batches_of

_HEADERS_AT_ONCE = 256


def plan(options: SegmentsOptions, pushed: Pushed) -> list[StoredRange]:
    """Raises JobFailed or WrongOption."""
    try:
        with opened_beside(options.url) as store:
            return _Planning(options, pushed, store).ranges()
    except (StorageUnusable, BrokerError) as failure:
        raise JobFailed(str(failure)) from None


class _Planning:
    def __init__(self, options: SegmentsOptions, pushed: Pushed, store: Beside) -> None:
        self._options = options
        self._pushed = pushed
        self._store = store

    def ranges(self) -> list[StoredRange]:
        options = self._options
        partition_ids = chosen(options, self._store.topics.load())
        options.starting.check(partition_ids)
        options.ending.check(partition_ids)
        ranges = [
            self._range(place, partition_id)
            for place, partition_id in partition_ids.items()
            if self._pushed.wants(place)
        ]
        return for_tasks(ranges, *options.for_tasks)

    def _range(self, place: Place, partition_id: int) -> StoredRange:
        options, pushed = self._options, self._pushed
        low, high = self._store.bounds(partition_id)
        log = StoredRange(place, low, high, partition_id, low)
        start, end = self._offset(log, options.starting), self._offset(log, options.ending)
        options.starting.check_order(options.ending, {place: start}, {place: end})
        start, end = pushed.start(start), pushed.end(end)
        if pushed.since_ms is not None:
            # All records before it are older, also where timestamps do not increase.
            start = max(start, self._store.log.at_timestamp(partition_id, pushed.since_ms))
        return StoredRange(place, start, end, partition_id, start)

    def _offset(self, log: StoredRange, bound: Bound) -> int:
        offset = bound.of(log.place)
        if bound.are_times:
            found = first_since(self._store, log, offset)
            if found is None and not bound.or_latest:
                raise bound.has_none(log.place)
            return log.end if found is None else found
        if offset in (EARLIEST, LATEST):
            return log.start if offset == EARLIEST else log.end
        # An end below the log start offset is an empty range, not lost data.
        first = log.start if bound is self._options.starting else 0
        if self._options.fail_on_data_loss and not first <= offset <= log.end:
            raise lost(
                f"{bound.option}: {log.place} has no offset {offset}, only {log.start} to {log.end}"
            )
        return min(max(offset, first), log.end)


def chosen(options: SegmentsOptions, topics: list[Topic]) -> dict[Place, int]:
    """The partitions that are read, and their ids in the store."""
    ids = {topic.name: topic.partition_ids for topic in topics}
    assignment = options.assignment or Assignment(topics=tuple(ids))
    partitions = {name: len(partition_ids) for name, partition_ids in ids.items()}
    places = assignment.among(partitions, f"in {options.folder}")
    return {place: ids[place.topic][place.partition] for place in places}


def first_since(store: Beside, log: StoredRange, timestamp: int) -> int | None:
    """The offset of the first record with that timestamp or a later one."""
    position = max(log.start, store.log.at_timestamp(log.partition_id, timestamp))
    while position < log.end:
        headers = store.log.headers(log.partition_id, position, _HEADERS_AT_ONCE)
        for header in headers:
            batch = RecordBatch(memoryview(header))
            if batch.max_timestamp >= timestamp:
                found = _first_in(store, log, batch, timestamp)
                if found is not None:
                    return found
            position = max(position, batch.last_offset + 1)
        if not headers:
            return None
    return None


def _first_in(store: Beside, log: StoredRange, header: RecordBatch, timestamp: int) -> int | None:
    start = max(header.base_offset, log.start)
    if header.attributes & LOG_APPEND_TIME:
        return start
    for last_offset, entry in store.entries(log.partition_id, start, start + 1, 0):
        for batch in batches_of(entry, last_offset):
            if isinstance(batch, Damaged):
                return start  # reading reports the damage
            if batch.base_offset != header.base_offset:
                continue
            try:
                opened = BatchCompression().decompress(batch.codec, batch.records, MAX_OPENED_BYTES)
                times = decode_times(opened, batch.base_offset, batch.base_timestamp, batch.count)
                fitting = (o for o, time in times if time >= timestamp and o >= start)
                return next(fitting, None)
            except BrokerError:
                return start
    return None
