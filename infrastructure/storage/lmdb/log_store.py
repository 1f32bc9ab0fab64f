"""The log in LMDB: `batches` by (partition id, last offset), `timestamps` beside it.

With the last offset as the key, the first key at or after an offset is the entry that holds it; see
entries.py. Every read copies once, out of the map into bytes, within one short read
transaction: a view of the map would show other data once its pages are used again, and an open
transaction would keep freed pages from being used at all. What survives what: see environment.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import lmdb

from application.ports.log_store import (
    NOT_INDEXED,
    Buffer,
    IndexEntry,
    LogName,
    NotInMemory,
    Trimmed,
)
from domain.messages.batch import HEADER_BYTES, last_offset_of
from infrastructure.storage.lmdb.commit import UNREADABLE, WritePass, storage_failed
from infrastructure.storage.lmdb.entries import (
    AlreadyThere,
    StagedEntries,
    batches_of,
    check_offsets,
    position_of,
    whole_batches,
)
from infrastructure.storage.lmdb.keys import KEY
from infrastructure.storage.lmdb.page_loader import NO_OFFSET, PageLoader
from infrastructure.storage.lmdb.parts import (
    all_parts_at,
    delete_entry,
    further_bytes,
    next_entry,
)
from infrastructure.storage.lmdb.timestamp_index import TimestampIndex

if TYPE_CHECKING:
    from lmdb import Cursor, _Database

_LARGEST_PARTITION_ID = (1 << 32) - 1
#: Each entry that a cursor stands on is touched, page by page; so a trim ends here, too.
_TRIMMED_AT_ONCE_BYTES = 2 << 20
#: LMDB writes 8 bytes for each page that it frees: on a full disk they have to fit in the reserve.
_DROPPED_AT_ONCE_BYTES = 256 << 20

#: To read a header is to touch its entry: bytes that are loaded for each requested header.
_BYTES_PER_HEADER = 8 << 10

_pack_key = KEY.pack
_unpack_key = KEY.unpack


class LogEnvironment(Protocol):
    """What of an environment belongs to the log."""

    env: lmdb.Environment
    batches: _Database
    timestamps: _Database
    #: None: reads wait for the disk themselves.
    loader: PageLoader | None


class LmdbLogStore:
    __slots__ = (
        *("_batches", "_entries", "_env", "_loader", "_memory_from", "_pass"),
        *("_times", "_timestamps"),
    )

    def __init__(
        self, environment: LogEnvironment, write_pass: WritePass, entries: StagedEntries
    ) -> None:
        self._env = environment.env
        self._batches = environment.batches
        self._timestamps = environment.timestamps
        self._times = TimestampIndex(environment.env, environment.timestamps)
        self._pass = write_pass
        self._entries = entries
        self._loader = loader = environment.loader
        self._memory_from = {} if loader is None else loader.memory_from

    def append(
        self,
        partition_id: int,
        last_offset: int,
        batch: Buffer,
        indexed_timestamp: int = NOT_INDEXED,
        begins_segment: bool = False,
    ) -> None:
        txn = self._pass.txn or self._pass.begin()
        if txn is None:
            return
        try:
            self._entries.add(txn, partition_id, last_offset, batch)
            if indexed_timestamp >= 0 and not self._times.put(
                txn, partition_id, indexed_timestamp, last_offset
            ):
                self._pass.fail(f"the timestamp index refused partition {partition_id}")
        except (lmdb.Error, AlreadyThere) as error:
            self._pass.fail(error, len(batch))

    def name(self, partition_id: int, name: LogName | None) -> None:
        """Only the rows of topics say it."""

    def read(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int, whole_first: bool
    ) -> bytes:
        return self.read_to(partition_id, offset, end_offset, max_bytes, whole_first)[0]

    def read_to(
        self,
        partition_id: int,
        offset: int,
        end_offset: int,
        max_bytes: int,
        whole_first: bool,
        loads: bool = True,
    ) -> tuple[bytes, int]:
        reached = offset
        if offset >= end_offset:
            return b"", reached
        if self._loader is not None and offset < self._memory_from.get(partition_id, NO_OFFSET):
            max_bytes = self._loader.limited(max_bytes)
            if loads:
                self._load(partition_id, offset, max_bytes)
            else:
                loaded_bytes = self._loader.loaded_bytes(partition_id, offset)
                if not loaded_bytes:
                    return b"", reached
                max_bytes = min(max_bytes, loaded_bytes)
        views: list[memoryview] = []
        size_bytes = 0
        try:
            with self._env.begin(buffers=True) as txn:
                cursor = txn.cursor(self._batches)
                found = cursor.set_range(_pack_key(partition_id, offset))
                while found:
                    found_id, last_offset = _unpack_key(cursor.key())
                    if found_id != partition_id:
                        break
                    entry = cursor.value()
                    more_bytes = further_bytes(entry)
                    if not views and not more_bytes:
                        entry = entry[position_of(entry, offset) :]
                    left_bytes = max_bytes - size_bytes
                    if last_offset >= end_offset or len(entry) + more_bytes > left_bytes:
                        first = whole_first and not views
                        if not more_bytes:
                            fit_bytes, reached = whole_batches(
                                entry, reached, end_offset, left_bytes, first
                            )
                            views.append(entry[:fit_bytes])
                        elif first and last_offset < end_offset:
                            views = all_parts_at(cursor)
                            reached = last_offset + 1
                        break
                    views += all_parts_at(cursor) if more_bytes else (entry,)
                    size_bytes += len(entry) + more_bytes
                    reached = last_offset + 1
                    # No step further than needed: the next entry may be another partition's
                    # oldest, and merely standing on it reads its first page from the disk.
                    if size_bytes >= max_bytes or last_offset + 1 >= end_offset:
                        break
                    found = cursor.next()
                return bytes(views[0]) if len(views) == 1 else b"".join(views), reached
        except UNREADABLE as error:
            raise storage_failed("could not read", error) from error

    def _load(self, partition_id: int, offset: int, read_bytes: int) -> int:
        """Returns up to which offset entries are in memory."""
        assert self._loader is not None
        loading = self._loader.load(partition_id, offset, read_bytes)
        if loading is not None:
            raise NotInMemory(loading)
        return self._loader.in_memory_to(partition_id, offset)

    def headers(
        self, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        headers: list[bytes] = []
        reached = -1
        in_memory_to = NO_OFFSET
        loads = self._loader is not None and not waits
        if loads and offset < self._memory_from.get(partition_id, NO_OFFSET):
            in_memory_to = self._load(partition_id, offset, limit * _BYTES_PER_HEADER)
        try:
            with self._env.begin(buffers=True) as txn:
                cursor = txn.cursor(self._batches)
                found = cursor.set_range(_pack_key(partition_id, offset))
                while found and len(headers) < limit:
                    found_id, last_offset = _unpack_key(cursor.key())
                    if found_id != partition_id:
                        break
                    entry = cursor.value()
                    check_offsets(entry, reached, last_offset)
                    reached = last_offset
                    first = 0 if headers else position_of(entry, offset)
                    for start, _, _ in batches_of(entry, first):
                        headers.append(bytes(entry[start : start + HEADER_BYTES]))
                        if len(headers) == limit:
                            return headers  # no step further than needed, as in `read`
                    if last_offset + 1 >= in_memory_to:
                        break
                    found = next_entry(cursor, entry, partition_id, last_offset)
        except UNREADABLE as error:
            raise storage_failed("could not read", error) from error
        return headers

    def at_timestamp(self, partition_id: int, timestamp: int) -> int:
        try:
            return self._times.find(partition_id, timestamp)
        except UNREADABLE as error:
            raise storage_failed("could not read", error) from error

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
        txn = self._pass.begin()
        if txn is None:
            return 0
        try:
            before, removed_bytes, after = _take_out(
                txn.cursor(self._batches), partition_id, first_offset, last_offset
            )
            entries = StagedEntries(self._batches)
            for batch in (*before, *batches, *after):
                entries.add(txn, partition_id, last_offset_of(batch), batch)
            entries.put(txn, partition_id)
            self._times.replace(txn, partition_id, first_offset, last_offset, indexed)
        except (*UNREADABLE, AlreadyThere) as error:
            self._pass.fail(error, sum(map(len, batches)))
            return 0
        added_bytes = sum(map(len, batches))
        if self._loader is not None:
            self._loader.rewritten(added_bytes)
        return added_bytes - removed_bytes

    def trim(self, partition_id: int, offset: int, max_batches: int) -> Trimmed:
        txn = self._pass.begin()
        if txn is None:
            return Trimmed(0, False)
        try:
            size_bytes, no_batches = _delete_below(
                txn.cursor(self._batches),
                partition_id,
                offset,
                max_batches,
                _TRIMMED_AT_ONCE_BYTES,
            )
            no_index = self._times.delete_below(txn, partition_id, offset, max_batches)
        except UNREADABLE as error:
            self._pass.fail(error)
            return Trimmed(0, False)
        return Trimmed(size_bytes, no_batches and no_index)

    def drop(self, partition_id: int, max_batches: int) -> bool:
        txn = self._pass.begin()
        if txn is None:
            return False
        try:
            self._entries.put(txn, partition_id)
            limits = partition_id, NO_OFFSET, max_batches, _DROPPED_AT_ONCE_BYTES
            _, no_batches = _delete_below(txn.cursor(self._batches), *limits)
            _, no_index = _delete_below(txn.cursor(self._timestamps), *limits)
        except (*UNREADABLE, AlreadyThere) as error:
            self._pass.fail(error)
            return False
        return no_batches and no_index

    def partition_ids(self) -> list[int]:
        partition_ids: list[int] = []
        try:
            with self._env.begin(buffers=True) as txn:
                cursor = txn.cursor(self._batches)
                found = cursor.first()
                while found:
                    partition_id = _unpack_key(cursor.key())[0]
                    partition_ids.append(partition_id)
                    if partition_id == _LARGEST_PARTITION_ID:
                        break
                    found = cursor.set_range(_pack_key(partition_id + 1, 0))
        except UNREADABLE as error:
            raise storage_failed("could not read", error) from error
        return partition_ids


def _take_out(
    cursor: Cursor[memoryview], partition_id: int, first_offset: int, last_offset: int
) -> tuple[list[bytes], int, list[bytes]]:
    """Deletes the entries of these batches; the other batches of the first and the last one, and
    the size of what is between.
    """
    before: list[bytes] = []
    after: list[bytes] = []
    removed_bytes = 0
    found = cursor.set_range(_pack_key(partition_id, first_offset))
    while found and not after:
        found_id, entry_end = _unpack_key(cursor.key())
        if found_id != partition_id:
            break
        entry = cursor.value()
        start, end = position_of(entry, first_offset), len(entry)
        if entry_end > last_offset:
            end = position_of(entry, last_offset + 1)
        if not end:
            break
        before += _split(entry[:start])
        after = _split(entry[end:])
        removed_bytes += delete_entry(cursor) - start - (len(entry) - end)
        # No step further than needed, as in `read`.
        found = entry_end < last_offset and len(cursor.key()) > 0
    return before, removed_bytes, after


def _split(entry: memoryview) -> list[bytes]:
    return [bytes(entry[start:end]) for start, end, _ in batches_of(entry)]


def _delete_below(
    cursor: Cursor[memoryview], partition_id: int, offset: int, limit: int, limit_bytes: int
) -> tuple[int, bool]:
    """Deletes up to `limit` entries that end below an offset, and one more than fit in
    `limit_bytes` at most; their size, and whether none is left.

    Keys tell where entries end, so none is stood on that stays, but for the first one.
    """
    size_bytes = 0
    found = cursor.set_range(_pack_key(partition_id, 0))
    for _ in range(limit):
        if not found or _unpack_key(cursor.key()) >= (partition_id, offset):
            return size_bytes, True
        if size_bytes >= limit_bytes:
            return size_bytes, False
        size_bytes += delete_entry(cursor)
        found = len(cursor.key()) > 0  # deleting moves on; past the end the key is empty
    return size_bytes, not found or _unpack_key(cursor.key()) >= (partition_id, offset)
