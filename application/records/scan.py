"""Scan: finds records in partitions, in small steps.

Each step of the generator is a read, the opening of a batch, or some dozens of records. It yields
None, or a Pending that must be resolved before the next step. The caller may stop between any two
steps: the plan then has the rest.

Partitions are merged by timestamp: the next record is the oldest (or newest) of the next ones of
all partitions. Within a partition records stay in offset order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from application.background.loaded import loaded
from application.partitions.opened_batch import MAX_OPENED_BYTES, messages_in
from application.ports.compression import Compression
from application.ports.log_store import LogStore
from application.ports.pending import Pending
from application.records.plan import OffsetRange, ScanEnd, ScanPlan
from domain.errors import CorruptMessage, InvalidRecord
from domain.messages.batch import (
    CONTROL,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    RecordBatch,
    batches_in,
)
from domain.messages.control import read_end_marker
from domain.messages.message import Message

READ_BYTES = 256 * 1024
#: Of all partitions together; each partition reads at least its next batch.
READ_AHEAD_BYTES = 8 * 1024 * 1024
RECORDS_PER_STEP = 32
HEADERS_AT_ONCE = 256
#: Records of one batch held for a backward scan; for more the batch is opened again.
MAX_HELD = 10_000

LIMIT, BYTES, TIME, END = "limit", "bytes", "time", "end"


class BatchTooLarge(Exception):
    """Opening the batch would block the loop for too long. The scan can continue in a worker."""


class OfProducer(NamedTuple):
    producer_id: int
    producer_epoch: int
    is_transactional: bool
    #: True: of a commit, False: of an abort.
    marker: bool | None = None


class FoundRecord(NamedTuple):
    range: OffsetRange
    message: Message
    log_append_time: bool
    #: If the plan asks for transactions.
    producer: OfProducer | None = None


#: A step without a record; a Pending must be resolved before the next step.
Idle = Pending[None] | None
Step = FoundRecord | Idle
#: Renders a found record; returns its bytes.
Take = Callable[[FoundRecord], int]


class Scan:
    """`steps` ends with the scan; `end` returns the progress at any time."""

    def __init__(
        self,
        plan: ScanPlan,
        log: LogStore,
        compression: Compression,
        take: Take,
        max_batch_bytes: int | None = None,
    ) -> None:
        self._plan = plan
        self._log = log
        self._compression = compression
        self._take = take
        #: Larger batches, compressed or not, raise BatchTooLarge; None: no limit.
        self._max_batch_bytes = max_batch_bytes
        self._needles = plan.filter.needles()
        self._read_bytes = max(
            min(READ_BYTES, READ_AHEAD_BYTES // max(len(plan.ranges), 1)), HEADER_BYTES
        )
        self._found = 0
        self._taken_bytes = 0
        self._unreadable = 0
        #: Offsets to scan.
        self._to_do = self._left()

    @property
    def has_moved(self) -> bool:
        """Whether a page that ended now would have made progress."""
        return self._left() < self._to_do

    def _left(self) -> int:
        return sum(each.end - each.start for each in self._plan.ranges)

    def end(self, reason: str) -> ScanEnd:
        left = self._plan.ranges
        return ScanEnd(reason, self._found, self._to_do - self._left(), self._unreadable, left)

    def steps(self) -> Iterator[Idle]:
        walks = {each.index: self._walk(each) for each in self._plan.ranges if not each.is_done}
        heads: list[tuple[int, int, FoundRecord]] = []
        headless = list(walks)
        while walks:
            for index in headless:
                for step in walks[index]:
                    if isinstance(step, FoundRecord):
                        heappush(heads, (self._rank(step), index, step))
                        break
                    yield step
                else:
                    del walks[index]
            if not heads or not self._has_room():
                return
            _, index, found = heappop(heads)
            self._emit(found)
            if not self._has_room():  # before another record is read ahead
                return
            headless = [index]
            yield None

    def reason(self) -> str:
        """Why the scan ended by itself."""
        if all(each.is_done for each in self._plan.ranges):
            return END
        return LIMIT if self._plan.limit == 0 else BYTES

    def _has_room(self) -> bool:
        plan = self._plan
        if plan.limit == 0:
            return False
        # The first record is returned, however large it is.
        return plan.max_bytes is None or plan.max_bytes > 0 or not self._taken_bytes

    def _emit(self, found: FoundRecord) -> None:
        plan = self._plan
        size_bytes = self._take(found)
        self._found += 1
        self._taken_bytes += size_bytes
        if plan.limit is not None:
            plan.limit -= 1
        if plan.max_bytes is not None:
            plan.max_bytes -= size_bytes
        offset = found.message.offset
        if plan.newest_first:
            found.range.end = offset
        else:
            found.range.start = offset + 1

    def _rank(self, found: FoundRecord) -> int:
        timestamp = found.message.timestamp
        return -timestamp if self._plan.newest_first else timestamp

    # ---- one partition

    def _walk(self, left: OffsetRange) -> Iterator[Step]:
        before = left.end - left.start
        yield from self._place(left)
        self._to_do -= before - (left.end - left.start)
        if self._plan.newest_first:
            yield from self._backward(left)
        else:
            yield from self._forward(left)

    def _place(self, left: OffsetRange) -> Iterator[Idle]:
        """Narrows the range to the timestamps of the filter, by the index and by headers."""
        conditions = self._plan.filter
        if conditions.start_ms is not None:
            start = yield from self._at_timestamp(left, conditions.start_ms)
            left.narrow(start, left.end)
        if conditions.end_ms is None:
            return
        position = yield from self._at_timestamp(left, conditions.end_ms + 1)
        while position < left.end:
            headers = yield from self._headers(left, position, HEADERS_AT_ONCE)
            for header in headers:
                batch = RecordBatch(memoryview(header))
                position = batch.last_offset + 1
                if batch.max_timestamp > conditions.end_ms:
                    left.narrow(left.start, position)
                    return
            if not headers:
                return
            yield None

    def _at_timestamp(self, left: OffsetRange, timestamp: int) -> Generator[Idle, None, int]:
        return loaded(lambda: self._log.at_timestamp(left.partition_id, timestamp))

    def _headers(
        self, left: OffsetRange, offset: int, limit: int
    ) -> Generator[Idle, None, list[bytes]]:
        return loaded(lambda: self._log.headers(left.partition_id, offset, limit))

    def _read(self, left: OffsetRange, offset: int, max_bytes: int) -> Generator[Idle, None, bytes]:
        return loaded(
            lambda: self._log.read(left.partition_id, offset, left.log_end, max_bytes, True)
        )

    def _forward(self, left: OffsetRange) -> Iterator[Step]:
        while not left.is_done:
            data = yield from self._read(left, left.start, self._read_bytes)
            yield None
            if not data:  # deleted meanwhile
                break
            for batch in batches_in(data):
                if batch.base_offset >= left.end:
                    left.start = left.end
                    return
                for step in self._messages(batch, left):
                    if isinstance(step, FoundRecord):
                        left.start = max(left.start, step.message.offset)
                    yield step
                left.start = max(left.start, batch.last_offset + 1)
        left.start = left.end

    def _backward(self, left: OffsetRange) -> Iterator[Step]:
        while not left.is_done:
            data = yield from self._read(left, left.end - 1, 0)
            if len(data) < HEADER_BYTES:
                break
            batch = RecordBatch(memoryview(data))
            if batch.base_offset >= left.end:  # compacted, or deleted meanwhile
                left.end = yield from self._end_before_gap(left)
                continue
            held: deque[FoundRecord] = deque(maxlen=MAX_HELD)
            rest_end = batch.base_offset
            for step in self._messages(batch, left):
                if isinstance(step, FoundRecord):
                    held.append(step)
                else:
                    yield step
            if len(held) == MAX_HELD:  # older records may have been dropped
                rest_end = held[0].message.offset
            while held:
                found = held.pop()
                left.end = found.message.offset + 1
                yield found
            left.end = max(rest_end, left.start)
        left.end = left.start

    def _end_before_gap(self, left: OffsetRange) -> Generator[Idle, None, int]:
        """The end of the last batch before a gap at the end of the range."""
        low, high, step = left.start, left.end - 1, 1
        while low < high:
            middle = max(low, high - step)
            batch = yield from self._header(left, middle)
            yield None
            if batch is None or batch.base_offset >= left.end:
                high, step = middle, step * 2
            else:
                low = batch.last_offset + 1
                step = (high - low) // 2 + 1
        return low

    def _header(self, left: OffsetRange, offset: int) -> Generator[Idle, None, RecordBatch | None]:
        headers = yield from self._headers(left, offset, 1)
        return RecordBatch(memoryview(headers[0])) if headers else None

    def _messages(self, batch: RecordBatch, left: OffsetRange) -> Iterator[Step]:
        """Matching records of a batch in order; None now and then in between."""
        conditions = self._plan.filter
        too_old = conditions.start_ms is not None and batch.max_timestamp < conditions.start_ms
        if too_old or (batch.attributes & CONTROL and not self._plan.transactions):
            yield None
            return
        try:
            opened = self._open(batch)
        except (CorruptMessage, InvalidRecord):
            self._unreadable += 1
            yield None
            return
        yield None
        if any(needle not in opened for needle in self._needles):
            return
        yield from self._matching(batch, opened, left)

    def _matching(self, batch: RecordBatch, opened: bytes, left: OffsetRange) -> Iterator[Step]:
        by_log = bool(batch.attributes & LOG_APPEND_TIME)
        matches = self._plan.filter.matches
        producer = _producer_of(batch) if self._plan.transactions else None
        try:
            for checked, message in enumerate(messages_in(batch, opened), 1):
                if left.start <= message.offset < left.end and matches(message):
                    yield FoundRecord(left, message, by_log, producer)
                elif checked % RECORDS_PER_STEP == 0:
                    if not self._plan.newest_first:
                        left.start = max(left.start, message.offset + 1)
                    yield None
        except InvalidRecord:
            self._unreadable += 1

    def _open(self, batch: RecordBatch) -> bytes:
        heavy = self._max_batch_bytes
        if heavy is None:
            return self._compression.decompress(batch.codec, batch.records, MAX_OPENED_BYTES)
        if batch.size_bytes > heavy:
            raise BatchTooLarge
        try:
            return self._compression.decompress(batch.codec, batch.records, heavy)
        except CorruptMessage:
            raise BatchTooLarge from None


def _producer_of(batch: RecordBatch) -> OfProducer:
    marker = read_end_marker(batch) if batch.attributes & CONTROL else None
    return OfProducer(
        batch.producer_id,
        batch.producer_epoch,
        bool(batch.attributes & TRANSACTIONAL),
        None if marker is None else marker.committed,
    )
