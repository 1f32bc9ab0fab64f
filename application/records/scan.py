"""Scan: goes through the records of partitions, in steps small enough for any loop.

Every step of a `Scan` is a `next` of its generator: a read, a batch that is opened, some dozens of
records. It yields None, or what has to be loaded before the next step. Its caller decides how many
steps it takes at once, and may stop between any two: the plan says then what is left.

Partitions are merged by time: the record that comes next is the oldest (or newest) of those that
come next in each. Where a partition's own times do not rise, its own order is kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from application.partitions.opened_batch import MAX_OPENED_BYTES, messages_in
from application.ports.compression import Compression
from application.ports.log_store import LogStore, NotInMemory
from application.ports.pending import Pending
from application.records.plan import OffsetRange, ScanEnd, ScanPlan
from domain.errors import CorruptMessage, InvalidRecord
from domain.messages.batch import CONTROL, HEADER_BYTES, LOG_APPEND_TIME, RecordBatch
from domain.messages.message import Message

READ_BYTES = 256 * 1024
#: Of all partitions together; each reads at least its next batch.
READ_AHEAD_BYTES = 8 * 1024 * 1024
RECORDS_PER_STEP = 32
HEADERS_AT_ONCE = 256
#: Of one batch, found from its end backwards: for those before them it is opened again.
MAX_HELD = 10_000

LIMIT, BYTES, TIME, END = "limit", "bytes", "time", "end"


class BatchTooLarge(Exception):
    """A batch that takes longer to open than the loop may be held; nothing is lost by it."""


class FoundRecord(NamedTuple):
    range: OffsetRange
    message: Message
    log_append_time: bool


#: A step that found nothing; with what has to be loaded before the next.
Idle = Pending[None] | None
Step = FoundRecord | Idle
#: What becomes of a found record, and how many bytes that is.
Take = Callable[[FoundRecord], int]


class Scan:
    """`steps` ends when the scan does; `end` says, whenever it is asked, how far it has come."""

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
        #: Offsets that were to be looked at.
        self._to_do = self._left()

    @property
    def has_moved(self) -> bool:
        """Whether a page that ended now would go on at another place than this one began."""
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
            if not self._has_room():  # before more is looked through, which would get lost
                return
            headless = [index]
            yield None

    def reason(self) -> str:
        """Of an end that was not another's decision."""
        if all(each.is_done for each in self._plan.ranges):
            return END
        return LIMIT if self._plan.limit == 0 else BYTES

    def _has_room(self) -> bool:
        plan = self._plan
        if plan.limit == 0:
            return False
        # However large, the first record comes.
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

    def _walk(self, where: OffsetRange) -> Iterator[Step]:
        before = where.end - where.start
        yield from self._place(where)
        self._to_do -= before - (where.end - where.start)
        if self._plan.newest_first:
            yield from self._backward(where)
        else:
            yield from self._forward(where)

    def _place(self, where: OffsetRange) -> Iterator[Idle]:
        """Narrows the range to the times that are wanted, by the index and by headers."""
        wanted = self._plan.filter
        if wanted.start_ms is not None:
            where.narrow(self._log.at_timestamp(where.partition_id, wanted.start_ms), where.end)
        if wanted.end_ms is None:
            return
        position = self._log.at_timestamp(where.partition_id, wanted.end_ms + 1)
        while position < where.end:
            try:
                headers = self._log.headers(where.partition_id, position, HEADERS_AT_ONCE)
            except NotInMemory as later:
                yield later.loading
                continue
            for header in headers:
                batch = RecordBatch(memoryview(header))
                position = batch.last_offset + 1
                if batch.max_timestamp > wanted.end_ms:
                    where.narrow(where.start, position)
                    return
            if not headers:
                return
            yield None

    def _read(
        self, where: OffsetRange, offset: int, max_bytes: int
    ) -> Generator[Idle, None, bytes]:
        while True:
            try:
                return self._log.read(where.partition_id, offset, where.log_end, max_bytes, True)
            except NotInMemory as later:
                yield later.loading

    def _forward(self, where: OffsetRange) -> Iterator[Step]:
        while not where.is_done:
            data = yield from self._read(where, where.start, self._read_bytes)
            yield None
            if not data:  # all of it has been deleted meanwhile
                break
            for batch in batches_in(data):
                if batch.base_offset >= where.end:
                    where.start = where.end
                    return
                for step in self._messages(batch, where):
                    if isinstance(step, FoundRecord):
                        where.start = max(where.start, step.message.offset)
                    yield step
                where.start = max(where.start, batch.last_offset + 1)
        where.start = where.end

    def _backward(self, where: OffsetRange) -> Iterator[Step]:
        while not where.is_done:
            data = yield from self._read(where, where.end - 1, 0)
            if len(data) < HEADER_BYTES:
                break
            batch = RecordBatch(memoryview(data))
            if batch.base_offset >= where.end:  # what lay here has been deleted
                where.end -= 1
                yield None
                continue
            held: deque[FoundRecord] = deque(maxlen=MAX_HELD)
            left_at = batch.base_offset
            for step in self._messages(batch, where):
                if isinstance(step, FoundRecord):
                    held.append(step)
                else:
                    yield step
            if len(held) == MAX_HELD:  # older ones may have had no place
                left_at = held[0].message.offset
            while held:
                found = held.pop()
                where.end = found.message.offset + 1
                yield found
            where.end = max(left_at, where.start)
        where.end = where.start

    def _messages(self, batch: RecordBatch, where: OffsetRange) -> Iterator[Step]:
        """Those of a batch that fit, in their order; None now and then on the way."""
        wanted = self._plan.filter
        too_old = wanted.start_ms is not None and batch.max_timestamp < wanted.start_ms
        if too_old or batch.attributes & CONTROL:
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
        yield from self._fitting(batch, opened, where)

    def _fitting(self, batch: RecordBatch, opened: bytes, where: OffsetRange) -> Iterator[Step]:
        by_log = bool(batch.attributes & LOG_APPEND_TIME)
        fits = self._plan.filter.fits
        try:
            for looked_at, message in enumerate(messages_in(batch, opened), 1):
                if where.start <= message.offset < where.end and fits(message):
                    yield FoundRecord(where, message, by_log)
                elif looked_at % RECORDS_PER_STEP == 0:
                    if not self._plan.newest_first:
                        where.start = max(where.start, message.offset + 1)
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


def batches_in(data: bytes) -> Iterator[RecordBatch]:
    view = memoryview(data)
    while len(view) >= HEADER_BYTES:
        batch = RecordBatch(view)
        yield batch
        view = view[batch.size_bytes :]
