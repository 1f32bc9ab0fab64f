"""PostgresSealedLog: batches in objects, of logs that other brokers lead.

A thread reads a piece of an object, and then asks the database: the piece counts only if the log
has these offsets in that object still. What an object has of a log never changes, and its name is
never used again, so pieces stay in memory for the next fetches.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from application.ports.pending import Pending, resolved
from application.ports.sealed_log import SealedRecords
from application.state.notifying import notify_each
from infrastructure.storage.engine import ToLoop
from infrastructure.storage.loading_thread import LoadingThread
from infrastructure.storage.postgresql.asking import batches_of
from infrastructure.storage.postgresql.cache import CachedEntry
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.log_store import batches_within
from infrastructure.storage.postgresql.log_view import view_of
from infrastructure.storage.postgresql.reading import Reading
from infrastructure.storage.postgresql.runs import spans, tail_of
from infrastructure.storage.repositories.partition_repository import (
    PARTITION_ID,
    PARTITIONS,
    bounds_of,
)

#: Of a piece, or an entry more.
_PIECE_BYTES = 4 << 20
#: Of all pieces, or one is larger: an entry has whole batches, of any size.
_PIECES_BYTES = 64 << 20
_MOST_PIECES = 16
#: The first one is for pieces in memory: a bucket that is slow or away stops no read of these.
_THREADS = 5
#: A partition id and an offset.
_Place = tuple[int, int]


class _Found(Pending[SealedRecords | None]):
    __slots__ = ("is_abandoned",)

    def __init__(self) -> None:
        super().__init__()
        self.is_abandoned = False

    def abandon(self) -> None:
        super().abandon()
        self.is_abandoned = True


class _Wanted(NamedTuple):
    place: _Place
    max_bytes: int = 0
    whole_first: bool = False
    #: None: it will be asked for soon.
    found: _Found | None = None

    @property
    def is_abandoned(self) -> bool:
        return self.found is not None and self.found.is_abandoned

    def resolve(self, records: SealedRecords | None) -> None:
        if self.found is not None:
            self.found.resolve(records)


class _Piece(NamedTuple):
    """Of a log, in one object: all that it has between two offsets."""

    partition_id: int
    #: Of the object.
    name: str
    first_offset: int
    entries: list[CachedEntry]
    size_bytes: int

    @property
    def end_offset(self) -> int:
        return self.entries[-1].last_offset + 1

    def has(self, partition_id: int, offset: int) -> bool:
        return partition_id == self.partition_id and self.first_offset <= offset < self.end_offset

    def from_offset(self, offset: int) -> Iterator[CachedEntry]:
        return (entry for entry in self.entries if entry.last_offset >= offset)


class _Read(NamedTuple):
    records: SealedRecords | None = None
    #: What will be read next, if it is not here.
    ahead: int | None = None
    #: Others that want the same will find no more.
    is_missing: bool = False
    #: It has to be loaded, by another thread.
    must_load: bool = False


class PostgresSealedLog:
    def __init__(self, contents: Contents, reading: Reading, to_loop: ToLoop) -> None:
        self._contents = contents
        self._reading = reading
        self._threads: list[LoadingThread[_Wanted, _Read]] = [
            LoadingThread(
                partial(self._read, one), partial(self._answered, one), to_loop, "ottla-follows"
            )
            for one in range(_THREADS)
        ]
        self._loads = [0] * _THREADS
        self._lock = threading.Lock()
        #: The newest last.
        self._pieces: deque[_Piece] = deque()
        #: What is being loaded, and those that wait for it: one thread loads a piece.
        self._loading: dict[_Place, list[_Wanted]] = {}
        reading.more_threads += self._threads

    # ---- on the loop

    def is_sealed(self, partition_id: int, first_offset: int, end_offset: int) -> bool:
        contents = self._contents
        runs = contents.runs.of(partition_id)
        tail = tail_of(runs, first_offset)
        if tail is None or contents.tails.object_of(tail) is None:
            return False
        if next(contents.cache.from_offset(partition_id, first_offset), None) is not None:
            return False  # it is read at once here
        row = contents.state.get(PARTITIONS, PARTITION_ID.pack(partition_id))
        if row is None or bounds_of(row).last_stable_offset < end_offset:
            return False  # others do not know how much of it is stable
        parts = spans(runs, first_offset, end_offset)
        return all(contents.tails.object_of(one.tail) is not None for one in parts)

    def fetch(
        self, partition_id: int, offset: int, max_bytes: int, whole_first: bool
    ) -> Pending[SealedRecords | None]:
        found = _Found()
        if not self._put(_Wanted((partition_id, offset), max_bytes, whole_first, found)):
            return resolved(None)
        return found

    def _put(self, wanted: _Wanted) -> bool:
        is_known = self._known(wanted.place) is not None
        if not is_known and wanted.place in self._loading:
            self._loading[wanted.place].append(wanted)
            return True
        numbers = range(1) if is_known else range(1, _THREADS)
        number = min(numbers, key=self._loads.__getitem__)
        is_put = self._threads[number].put(wanted)
        self._loads[number] += is_put
        if is_put and not is_known:
            self._loading[wanted.place] = []
        return is_put

    def _answered(self, number: int, wanted: _Wanted, read: _Read) -> None:
        self._loads[number] -= 1
        # Each asks the database itself: it may have come later.
        again = [] if number == 0 else self._loading.pop(wanted.place)
        if read.must_load:
            again.append(wanted)
        if read.ahead is not None:
            ahead = _Wanted((wanted.place[0], read.ahead))
            if ahead.place not in self._loading and self._known(ahead.place) is None:
                self._put(ahead)
        done = [one for one in again if one.is_abandoned or read.is_missing or not self._put(one)]
        if not read.must_load:
            done.append(wanted)
        faults = notify_each(done, lambda one: one.resolve(read.records if one is wanted else None))
        if faults:
            raise faults[0]

    # ---- in a thread

    def _read(self, number: int, wanted: _Wanted) -> _Read:
        if wanted.is_abandoned and all(
            one.is_abandoned for one in tuple(self._loading.get(wanted.place, ()))
        ):
            return _Read()
        with suppress(Exception):  # the leader reads the same object, and says what is wrong
            return self._found(wanted, number > 0)
        return _Read(is_missing=True)

    def _found(self, wanted: _Wanted, loads: bool) -> _Read:
        for _ in range(2):
            piece = self._known(wanted.place)
            if piece is None:
                if not loads:
                    return _Read(must_load=True)
                piece = self._load(*wanted.place)
            if piece is None:
                break
            read = _Read() if wanted.found is None else self._of_piece(piece, wanted)
            if read is not None:
                return read
            self._forget(piece)
        return _Read(is_missing=True)

    def _of_piece(self, piece: _Piece, wanted: _Wanted) -> _Read | None:
        """None: the log has these offsets elsewhere by now, or no more."""
        partition_id, offset = wanted.place
        view = view_of(self._reading.rows, partition_id, offset)
        if view is None or view.name != piece.name:
            return None
        end_offset = min(piece.end_offset, view.end_offset)
        if offset >= end_offset:
            return None
        entries = piece.from_offset(offset)
        records, reached = batches_within(
            entries, offset, end_offset, wanted.max_bytes, wanted.whole_first
        )
        if not records and wanted.whole_first:
            return None
        snapshot = view.snapshot
        aborted = [one for one in view.aborted if one.first_offset < reached]
        found = SealedRecords(
            snapshot.start_offset,
            snapshot.end_offset,
            snapshot.last_stable_offset,
            records,
            aborted,
        )
        is_half_read = reached > (piece.first_offset + piece.end_offset) // 2
        return _Read(found, piece.end_offset if is_half_read else None)

    def _known(self, place: _Place) -> _Piece | None:
        """From any thread."""
        with self._lock:
            return next((one for one in self._pieces if one.has(*place)), None)

    def _load(self, partition_id: int, offset: int) -> _Piece | None:
        rows = self._reading.rows
        view = view_of(rows, partition_id, offset)
        if view is None:
            return None
        entries, start = [], offset
        for last_offset, data, _ in batches_of(
            rows, self._reading.bucket_of, view.name, partition_id, view.span, _PIECE_BYTES
        ):
            entries.append(CachedEntry(start, last_offset, data))
            start = last_offset + 1
        if not entries:
            return None
        size_bytes = sum(entry.size_bytes for entry in entries)
        piece = _Piece(partition_id, view.name, offset, entries, size_bytes)
        self._keep(piece)
        return piece

    def _keep(self, piece: _Piece) -> None:
        with self._lock:
            pieces = self._pieces
            pieces.append(piece)
            size_bytes = sum(one.size_bytes for one in pieces)
            while len(pieces) > 1 and (size_bytes > _PIECES_BYTES or len(pieces) > _MOST_PIECES):
                size_bytes -= pieces.popleft().size_bytes

    def _forget(self, gone: _Piece) -> None:
        """All that is of the same object: two may have the same offsets."""
        with self._lock:
            self._pieces = deque(
                one
                for one in self._pieces
                if (one.partition_id, one.name) != (gone.partition_id, gone.name)
            )
