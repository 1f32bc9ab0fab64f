"""The log in PostgreSQL: entries by partition and last offset, the newest of them also here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from application.ports.log_store import NOT_INDEXED, Buffer, IndexEntry, LogName, Trimmed
from domain.messages.batch import HEADER_BYTES, last_offset_of
from infrastructure.storage.lmdb.entries import batches_of, position_of, whole_batches
from infrastructure.storage.postgresql import reading
from infrastructure.storage.postgresql.cache import CachedEntry
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.reading import Question, Reading
from infrastructure.storage.postgresql.staged import MOST_ENTRY_BYTES, TIME, Entry

#: Asked for at once, also if a client wants more: it gets the rest with its next read.
_LOADED_BYTES = 4 << 20
_NO_TIMESTAMP = 1 << 63
_ABOVE_ALL_OFFSETS = (1 << 63) - 1


class PostgresLogStore:
    __slots__ = ("_contents", "_reading")

    def __init__(self, contents: Contents, reading: Reading) -> None:
        self._contents = contents
        self._reading = reading

    # ---- changes

    def append(
        self,
        partition_id: int,
        last_offset: int,
        batch: Buffer,
        indexed_timestamp: int = NOT_INDEXED,
        begins_segment: bool = False,
    ) -> None:
        self._contents.staged.append(partition_id, last_offset, batch, indexed_timestamp)

    def name(self, partition_id: int, name: LogName | None) -> None:
        """Only the rows of topics say it."""

    def copy_before(self, partition_id: int, offset: int) -> bool:
        return True

    def replace(
        self,
        partition_id: int,
        first_offset: int,
        last_offset: int,
        batches: Sequence[Buffer],
        indexed: Sequence[IndexEntry],
    ) -> int:
        entries = list(self._entries_within(partition_id, first_offset, last_offset))
        before, after, removed_bytes = _taken_out(entries, first_offset, last_offset)
        times: list[IndexEntry] = []
        if entries:
            times = self._times_of(partition_id, entries, first_offset, last_offset, indexed)
        new = list(_packed(partition_id, [*before, *map(bytes, batches), *after], times))
        staged = self._contents.staged
        new_offsets = {one.last_offset for one in new}
        for entry in entries:
            if entry.last_offset not in new_offsets:
                staged.removed.append((partition_id, entry.last_offset, entry.last_offset))
        staged.replaced += new
        return sum(map(len, batches)) - removed_bytes

    def _times_of(
        self,
        partition_id: int,
        entries: list[CachedEntry],
        first_offset: int,
        last_offset: int,
        indexed: Sequence[IndexEntry],
    ) -> list[IndexEntry]:
        """Places in the timestamp index, within these entries, after the replacement."""
        first, last = entries[0].last_offset, entries[-1].last_offset
        values = first, partition_id, first, last, partition_id, last
        rows = self._ask(reading.TIMES, partition_id, *values)
        found = [(at, time) for at, times in rows for time in TIME.iter_unpack(times)]
        least = max((time for _, (time, offset) in found if offset < first_offset), default=0)
        most = min(
            (time for _, (time, offset) in found if offset > last_offset), default=_NO_TIMESTAMP
        )
        within = [time for at, time in found if first <= at <= last]
        return [
            *(one for one in within if one[1] < first_offset),
            *((max(time, least), offset) for time, offset in indexed if time < most),
            *(one for one in within if one[1] > last_offset),
        ]

    def _entries_within(
        self, partition_id: int, first_offset: int, last_offset: int
    ) -> Iterator[CachedEntry]:
        at = first_offset
        while at <= last_offset and at < self._contents.ends.get(partition_id, 0):
            entry = next(iter(self._from(partition_id, at)), None)
            if entry is None or last_offset_of(entry.data) > last_offset:
                break
            yield entry
            at = entry.last_offset + 1

    def trim(self, partition_id: int, offset: int, max_batches: int) -> Trimmed:
        if partition_id not in self._contents.ends:
            return Trimmed(0, True)
        staged = self._contents.staged
        values = staged.removed_to(partition_id), offset, max_batches + 1
        found = self._ask(reading.OLDEST, partition_id, *values)
        removed = found[:max_batches]
        if removed:
            staged.removed.append((partition_id, 0, removed[-1][0]))
        return Trimmed(sum(size for _, size in removed), len(found) <= max_batches)

    def drop(self, partition_id: int, max_batches: int) -> bool:
        staged = self._contents.staged
        found: reading.Answer = []
        if partition_id in self._contents.ends:
            values = staged.removed_to(partition_id), _ABOVE_ALL_OFFSETS, max_batches + 1
            found = self._ask(reading.OLDEST, partition_id, *values)
        if found:
            staged.removed.append((partition_id, 0, found[:max_batches][-1][0]))
            if len(found) > max_batches:
                return False
        # They need no commit to be removed.
        staged.forget_batches(partition_id)
        return True

    # ---- reads

    def read(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int, whole_first: bool
    ) -> bytes:
        return bytes(self.read_to(partition_id, offset, end_offset, max_bytes, whole_first)[0])

    def read_to(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int, whole_first: bool
    ) -> tuple[Buffer, int]:
        end_offset = min(end_offset, self._contents.ends.get(partition_id, 0))
        if offset >= end_offset:
            return b"", offset
        views: list[memoryview] = []
        reached = offset
        for entry in self._from(partition_id, offset):
            view = memoryview(entry.data)
            if not views:
                view = view[position_of(view, offset) :]
            if entry.last_offset >= end_offset or len(view) > max_bytes:
                size_bytes, reached = whole_batches(
                    view, reached, end_offset, max_bytes, whole_first and not views
                )
                views.append(view[:size_bytes])
                break
            views.append(view)
            max_bytes -= len(view)
            reached = entry.last_offset + 1
            if max_bytes <= 0 or reached >= end_offset:
                break
        return views[0] if len(views) == 1 else b"".join(views), reached

    def _from(self, partition_id: int, offset: int) -> Iterable[CachedEntry]:
        """Raises NotInMemory or StorageFailed."""
        contents = self._contents
        cached = contents.cache.from_offset(partition_id, offset)
        first = next(cached, None)
        if first is not None:
            return chain((first,), cached)
        found = self._ask(reading.BATCHES, partition_id, offset, _LOADED_BYTES)
        loaded, start = [], offset
        for last_offset, data in found:
            loaded.append(CachedEntry(start, last_offset, data))
            start = last_offset + 1
        for entry in loaded:
            contents.cache.add(partition_id, entry)
        return loaded

    def headers(
        self, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        headers: list[bytes] = []
        if offset >= self._contents.ends.get(partition_id, 0) or limit <= 0:
            return headers
        for entry in self._contents.cache.from_offset(partition_id, offset):
            view = memoryview(entry.data)
            first = 0 if headers else position_of(view, offset)
            for start, _, _ in batches_of(view, first):
                headers.append(bytes(view[start : start + HEADER_BYTES]))
                if len(headers) == limit:
                    return headers
        if headers:
            return headers
        values = partition_id, offset, limit, limit * HEADER_BYTES
        question = Question(reading.HEADERS, partition_id, values)
        for (several,) in self._reading.ask(question, waits):
            for start in range(0, len(several), HEADER_BYTES):
                header = several[start : start + HEADER_BYTES]
                if last_offset_of(header) >= offset and len(headers) < limit:
                    headers.append(header)
        return headers

    def at_timestamp(self, partition_id: int, timestamp: int) -> int:
        if partition_id not in self._contents.ends:
            return 0
        values = timestamp, partition_id, timestamp
        at = 0
        for (times,) in self._ask(reading.AROUND_TIMESTAMP, partition_id, *values):
            for time, offset in TIME.iter_unpack(times):
                if time < timestamp:
                    at = max(at, offset + 1)
        return at

    def partition_ids(self) -> list[int]:
        return sorted(self._contents.ends)

    def _ask(self, statement: str, partition_id: int, *values: int) -> reading.Answer:
        return self._reading.ask(Question(statement, partition_id, (partition_id, *values)))


def _taken_out(
    entries: list[CachedEntry], first_offset: int, last_offset: int
) -> tuple[list[bytes], list[bytes], int]:
    """The batches of the entries before and behind these offsets, and the size of the others."""
    before: list[bytes] = []
    after: list[bytes] = []
    removed_bytes = 0
    for entry in entries:
        view = memoryview(entry.data)
        for start, end, its_last in batches_of(view):
            if its_last < first_offset:
                before.append(bytes(view[start:end]))
            elif its_last > last_offset:
                after.append(bytes(view[start:end]))
            else:
                removed_bytes += end - start
    return before, after, removed_bytes


def _packed(
    partition_id: int, batches: Sequence[bytes], times: Sequence[IndexEntry]
) -> Iterator[Entry]:
    at = 0
    while at < len(batches):
        size_bytes, end = len(batches[at]), at + 1
        while end < len(batches) and size_bytes + len(batches[end]) <= MOST_ENTRY_BYTES:
            size_bytes += len(batches[end])
            end += 1
        last_offset = last_offset_of(batches[end - 1])
        indexed = [one for one in times if one[1] <= last_offset]
        times = times[len(indexed) :]
        yield Entry(partition_id, last_offset, indexed, b"".join(batches[at:end]))
        at = end
