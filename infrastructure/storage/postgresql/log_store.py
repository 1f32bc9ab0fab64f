"""The log in PostgreSQL: entries by partition and last offset, the newest of them also here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from application.ports.log_store import NOT_INDEXED, Buffer, IndexEntry, LogName, Trimmed
from domain.messages.batch import EXTENT, HEADER_BYTES, last_offset_of
from infrastructure.storage.lmdb.entries import batches_of, position_of, whole_batches
from infrastructure.storage.memory.store import NO_TIMESTAMP_AFTER
from infrastructure.storage.postgresql import questions
from infrastructure.storage.postgresql.cache import CachedEntry
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.entries import TIME, packed
from infrastructure.storage.postgresql.questions import Answer, Kind
from infrastructure.storage.postgresql.reading import LOADED_BYTES, Question, Reading
from infrastructure.storage.postgresql.runs import ABOVE_ALL_OFFSETS, spans, tail_of
from infrastructure.storage.postgresql.staged import Rewritten


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
        staged = self._contents.staged
        if last_offset < self._contents.ends.get(partition_id, 0):
            staged.why_not = f"partition {partition_id} has a batch behind {last_offset} already"
        staged.append(partition_id, last_offset, batch, indexed_timestamp)

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
        if not entries:
            return 0
        before, after, removed_bytes = _taken_out(entries, first_offset, last_offset)
        first, last = entries[0].last_offset, entries[-1].last_offset
        [(previous, *around)] = self._ask(questions.surroundings, partition_id, first, last)
        times = _times_of(entries, around, first_offset, last_offset, indexed)
        new = list(packed(partition_id, [*before, *map(bytes, batches), *after], times))
        sizes = [(one.last_offset, len(one.data)) for one in entries]
        staged = self._contents.staged
        if not new and previous is None and last + 1 >= self._contents.ends[partition_id]:
            # Nothing of the log is left.
            staged.trim(partition_id, last, sizes)
        else:
            end = new[-1].last_offset if new else previous
            [start, *_] = EXTENT.unpack_from(entries[0].data)
            log_end = -1 if end is None else end + 1
            staged.rewrite(Rewritten(partition_id, start, last, log_end), new, sizes)
        return sum(map(len, batches)) - removed_bytes

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
        end_offset = self._contents.ends.get(partition_id)
        if end_offset is None:
            return Trimmed(0, True)
        staged = self._contents.staged
        values = staged.trimmed_to(partition_id), offset, max_batches + 1
        found = self._ask(questions.oldest, partition_id, *values)
        removed, is_done = found[:max_batches], len(found) <= max_batches
        last = removed[-1][0] if removed else -1
        if is_done and offset >= end_offset:
            # Nothing of the log is left.
            last = max(last, end_offset - 1)
        if last >= 0:
            staged.trim(partition_id, last, removed)
        return Trimmed(sum(size for _, size in removed), is_done)

    def drop(self, partition_id: int, max_batches: int) -> bool:
        if not self.trim(partition_id, ABOVE_ALL_OFFSETS, max_batches).done:
            return False
        # They need no commit to be removed.
        self._contents.staged.forget_batches(partition_id)
        return True

    # ---- reads

    def read(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int, whole_first: bool
    ) -> bytes:
        return bytes(self.read_to(partition_id, offset, end_offset, max_bytes, whole_first)[0])

    def read_to(
        self,
        partition_id: int,
        offset: int,
        end_offset: int,
        max_bytes: int,
        whole_first: bool,
        loads: bool = True,
    ) -> tuple[Buffer, int]:
        end_offset = min(end_offset, self._contents.ends.get(partition_id, 0))
        if offset >= end_offset:
            return b"", offset
        entries = self._from(partition_id, offset, loads)
        return batches_within(entries, offset, end_offset, max_bytes, whole_first)

    def _from(self, partition_id: int, offset: int, loads: bool = True) -> Iterable[CachedEntry]:
        """Raises NotInMemory or StorageFailed. Without `loads` nothing new is asked for."""
        contents = self._contents
        cached = contents.cache.from_offset(partition_id, offset)
        first = next(cached, None)
        if first is not None:
            return chain((first,), cached)
        found, at = Answer(), offset
        # Compaction may have left nothing of what is in a table.
        while not found and at < contents.ends.get(partition_id, 0):
            question = self._batches_from(partition_id, at)
            if not loads and not self._reading.has(question):
                return ()
            found = self._reading.ask(question)
            [_, at, _] = question.values
        # It was reached from the batches before it, and goes on.
        reads_on = next(iter(contents.cache.from_offset(partition_id, offset - 1)), None)
        loaded, start = [], offset
        for last_offset, data, times in found:
            loaded.append(CachedEntry(start, last_offset, data, times or b""))
            start = last_offset + 1
        for entry in loaded:
            contents.cache.add(partition_id, entry)
        if loads and reads_on is not None and start < contents.ends.get(partition_id, 0):
            self._ask_ahead(partition_id, start)
        return loaded

    def _ask_ahead(self, partition_id: int, offset: int) -> None:
        tail = tail_of(self._contents.runs.of(partition_id), offset)
        if tail is not None and self._contents.tails.object_of(tail) is not None:
            self._reading.ask_ahead(self._batches_from(partition_id, offset))

    def _batches_from(self, partition_id: int, offset: int) -> Question:
        """What begins in a table ends where an object begins: it waits for no bucket."""
        object_of = self._contents.tails.object_of
        parts = spans(self._contents.runs.of(partition_id), offset)
        first, end_offset = next(parts, None), ABOVE_ALL_OFFSETS
        if first is not None and object_of(first.tail) is None:
            behind = (one.first_offset for one in parts if object_of(one.tail) is not None)
            end_offset = next(behind, ABOVE_ALL_OFFSETS)
        return Question(questions.batches, partition_id, (offset, end_offset, LOADED_BYTES))

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
        question = Question(questions.headers, partition_id, (offset, limit))
        for (several,) in self._reading.ask(question, waits):
            for start in range(0, len(several), HEADER_BYTES):
                header = several[start : start + HEADER_BYTES]
                if last_offset_of(header) >= offset and len(headers) < limit:
                    headers.append(header)
        return headers

    def at_timestamp(self, partition_id: int, timestamp: int) -> int:
        if partition_id not in self._contents.ends:
            return 0
        at = 0
        for (times,) in self._ask(questions.around_timestamp, partition_id, timestamp):
            for time, offset in TIME.iter_unpack(times):
                if time < timestamp:
                    at = max(at, offset + 1)
        return at

    def partition_ids(self) -> list[int]:
        return sorted(self._contents.ends)

    def _ask(self, kind: Kind, partition_id: int, *values: int) -> Answer:
        return self._reading.ask(Question(kind, partition_id, values))


def batches_within(
    entries: Iterable[CachedEntry],
    offset: int,
    end_offset: int,
    max_bytes: int,
    whole_first: bool,
) -> tuple[Buffer, int]:
    """As `LogStore.read_to`, of entries from an offset on."""
    views: list[memoryview] = []
    reached = offset
    for entry in entries:
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


def _times_of(
    entries: list[CachedEntry],
    around: list[bytes],
    first_offset: int,
    last_offset: int,
    indexed: Sequence[IndexEntry],
) -> list[IndexEntry]:
    """Places in the timestamp index, within these entries, after the replacement."""
    within = [time for one in entries for time in TIME.iter_unpack(one.times)]
    before = [one for one in within if one[1] < first_offset]
    after = [one for one in within if one[1] > last_offset]
    times_before, times_after = around
    least = max((time for time, _ in (*TIME.iter_unpack(times_before), *before)), default=0)
    most = min(
        (time for time, _ in (*after, *TIME.iter_unpack(times_after))), default=NO_TIMESTAMP_AFTER
    )
    return [
        *before,
        *((max(time, least), offset) for time, offset in indexed if time < most),
        *after,
    ]
