"""Which offsets of which partitions are read: found out once, when the query is planned."""

from __future__ import annotations

from application.opened_batch import MAX_OPENED_BYTES
from domain.errors import BrokerError
from domain.messages.batch import LOG_APPEND_TIME, RecordBatch
from domain.messages.message import decode_times
from domain.topics.topic import Topic
from infrastructure.codecs.compression import BatchCompression
from infrastructure.storage.opening import Beside, StorageUnusable, opened_beside
from interfaces.spark.failures import JobFailed
from interfaces.spark.segments.conditions import Conditions
from interfaces.spark.segments.options import (
    EARLIEST,
    LATEST,
    OFFSET,
    Bound,
    Choice,
    SegmentsOptions,
)
from interfaces.spark.segments.ranges import OffsetRange, split
from interfaces.spark.segments.whole import Damaged, batches_of

_HEADERS_AT_ONCE = 256


def plan(options: SegmentsOptions, conditions: Conditions) -> list[OffsetRange]:
    """Raises JobFailed or WrongOption, in one line."""
    try:
        with opened_beside(options.url) as store:
            return _Planning(options, conditions, store).ranges()
    except (StorageUnusable, BrokerError) as failure:
        raise JobFailed(str(failure)) from None


class _Planning:
    def __init__(self, options: SegmentsOptions, conditions: Conditions, store: Beside) -> None:
        self._options = options
        self._conditions = conditions
        self._store = store

    def ranges(self) -> list[OffsetRange]:
        folder = self._options.url.partition("://")[2]
        places = chosen(self._options.choice, self._store.topics.load(), folder)
        of_places = [(topic, number) for topic, number, _ in places]
        self._options.starting.check(of_places)
        self._options.ending.check(of_places)
        ranges = [
            self._range(topic, number, partition_id)
            for topic, number, partition_id in places
            if self._conditions.fits(topic, number)
        ]
        return split(ranges, self._options.min_partitions, self._options.max_records)

    def _range(self, topic: str, number: int, partition_id: int) -> OffsetRange:
        options = self._options
        low, high = self._store.bounds(partition_id)
        log = OffsetRange(topic, number, partition_id, low, high)
        start = self._start(log, options.starting.of(topic, number))
        end = self._end(log, options.ending.of(topic, number))
        start, end = self._conditions.narrow(start, max(start, end))
        since_ms = self._conditions.since_ms
        if since_ms is not None:
            # All that lies before has smaller times, whether these rise or not.
            start = max(start, self._store.log.at_timestamp(partition_id, since_ms))
        return log._replace(start=start, end=max(start, end))

    def _start(self, log: OffsetRange, bound: Bound) -> int:
        if bound.kind == EARLIEST:
            return log.start
        if bound.kind == OFFSET:
            if not log.start <= bound.value <= log.end:
                self._lost(log, self._options.starting.option, bound.value)
            return min(max(bound.value, log.start), log.end)
        found = first_since(self._store, log, bound.value)
        if found is None and not self._options.latest_if_too_new:
            raise JobFailed(
                f"{log} has no record from {bound.value} on; with "
                "startingOffsetsByTimestampStrategy=latest it would be read from its end"
            )
        return log.end if found is None else found

    def _end(self, log: OffsetRange, bound: Bound) -> int:
        if bound.kind == LATEST:
            return log.end
        if bound.kind == OFFSET:
            if bound.value > log.end:
                self._lost(log, self._options.ending.option, bound.value)
            return min(bound.value, log.end)
        found = first_since(self._store, log, bound.value)
        return log.end if found is None else found

    def _lost(self, log: OffsetRange, option: str, offset: int) -> None:
        if self._options.fail_on_data_loss:
            raise JobFailed(
                f"{option}: {log} has no offset {offset}, it goes from {log.start} to {log.end}; "
                "failOnDataLoss=false reads what there is"
            )


def chosen(choice: Choice, topics: list[Topic], folder: str) -> list[tuple[str, int, int]]:
    """Topic, partition, and its number in the store."""
    there = {topic.name: topic.partition_ids for topic in topics}
    if choice.partitions is not None:
        wanted = choice.partitions
    else:
        names = choice.names
        if names is None:
            pattern = choice.pattern
            names = tuple(n for n in sorted(there) if pattern is None or pattern.fullmatch(n))
        wanted = {name: tuple(range(len(there.get(name, (0,))))) for name in names}
    for name, numbers in wanted.items():
        if name not in there:
            raise JobFailed(f"there is no topic {name} in {folder}")
        for number in numbers:
            if number >= len(there[name]):
                raise JobFailed(f"there is no partition {name}-{number} in {folder}")
    return [(name, number, there[name][number]) for name in wanted for number in wanted[name]]


def first_since(store: Beside, log: OffsetRange, timestamp: int) -> int | None:
    """The offset of the first record that is as young as that."""
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


def _first_in(store: Beside, log: OffsetRange, header: RecordBatch, timestamp: int) -> int | None:
    start = max(header.base_offset, log.start)
    if header.attributes & LOG_APPEND_TIME:
        return start
    for last_offset, entry in store.entries(log.partition_id, start, start + 1, 0):
        for batch in batches_of(entry, last_offset):
            if isinstance(batch, Damaged):
                return start  # whoever reads from there is told
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
