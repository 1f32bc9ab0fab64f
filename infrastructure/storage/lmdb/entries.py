"""Entries of `batches`: one batch, in as many parts as it needs, or several small ones in one part.

Small batches that arrive for a partition in one pass share an entry, under the last offset of the
last of them: one put for all, and full pages (LMDB lays two values of 1 KB on a page of 4 KB, and
gives whole pages to anything that is larger). The batches' own headers say where each one ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import ge
from struct import error as StructError
from typing import TYPE_CHECKING

from application.ports.log_store import Buffer
from domain.messages.batch import EXTENT, HEADER_BYTES, LENGTH_OVERHEAD_BYTES
from infrastructure.storage.lmdb.keys import KEY
from infrastructure.storage.lmdb.page_loader import PageLoader
from infrastructure.storage.lmdb.parts import WHOLE_BYTES, put_parts

if TYPE_CHECKING:
    from lmdb import Transaction, _Database

#: A larger batch has an entry to itself: copying it twice costs more than half a page.
SMALL_BATCH_BYTES = 32 * 1024
#: Several small batches are one part. More than this many are not put together: a read from the
#: middle of an entry visits each header before it.
FULL_ENTRY_BATCHES = 32

_pack_key = KEY.pack


class AlreadyThere(Exception):
    """The key exists: two batches have the same offset."""


class StagedEntry:
    __slots__ = ("batches", "last_offset", "size_bytes")

    def __init__(self) -> None:
        self.batches: list[bytes] = []
        self.last_offset = -1
        self.size_bytes = 0


class StagedEntries:
    """Of the pass under way, by partition: entries that may get further batches."""

    __slots__ = ("_database", "_entries", "_loader")

    def __init__(self, database: _Database, loader: PageLoader | None = None) -> None:
        self._database = database
        self._loader = loader
        self._entries: dict[int, StagedEntry] = {}

    def add(
        self, txn: Transaction[memoryview], partition_id: int, last_offset: int, batch: Buffer
    ) -> None:
        """Raises AlreadyThere or lmdb.Error, from this batch or from those before it."""
        size_bytes = len(batch)
        if size_bytes > SMALL_BATCH_BYTES:
            self.put(txn, partition_id)
            self._put(txn, partition_id, last_offset, batch)
            return
        entry = self._entries.get(partition_id)
        if entry is not None and entry.size_bytes + size_bytes > WHOLE_BYTES:
            self.put(txn, partition_id)
            entry = None
        if entry is None:
            entry = self._entries[partition_id] = StagedEntry()
        entry.batches.append(bytes(batch))
        entry.last_offset = last_offset
        entry.size_bytes += size_bytes
        if len(entry.batches) >= FULL_ENTRY_BATCHES:
            self.put(txn, partition_id)

    def put(self, txn: Transaction[memoryview], partition_id: int) -> None:
        entry = self._entries.pop(partition_id, None)
        if entry is not None:
            batches = entry.batches
            value = batches[0] if len(batches) == 1 else b"".join(batches)
            self._put(txn, partition_id, entry.last_offset, value)

    def put_all(self, txn: Transaction[memoryview]) -> None:
        for partition_id in list(self._entries):
            self.put(txn, partition_id)

    def _put(
        self, txn: Transaction[memoryview], partition_id: int, last_offset: int, value: Buffer
    ) -> None:
        # Not append=True: that is for the last key of all partitions, and says False, not why.
        key = _pack_key(partition_id, last_offset)
        if not put_parts(txn, self._database, key, value):
            raise AlreadyThere(f"partition {partition_id} has a batch at {last_offset} already")
        if self._loader is not None:
            self._loader.written(partition_id, value)

    def committed(self) -> None:
        """All were put before."""

    def clear(self) -> None:
        self._entries.clear()


def batches_of(entry: memoryview, start: int = 0) -> Iterator[tuple[int, int, int]]:
    """Where each batch begins and ends, and its last offset."""
    size_bytes = len(entry)
    while start + HEADER_BYTES <= size_bytes:
        base_offset, length, last_offset_delta = EXTENT.unpack_from(entry, start)
        end = start + max(length, 0) + LENGTH_OVERHEAD_BYTES
        yield start, min(end, size_bytes), base_offset + last_offset_delta
        start = end


def check_offsets(entry: memoryview, reached: int, last_offset: int) -> None:
    """Raises struct.error unless offsets rise from `reached`, of the entry before, to the key's.

    Readers continue behind the last offset of a header: in a damaged one they would not get on.
    """
    offsets = [reached, *(batch_last_offset for _, _, batch_last_offset in batches_of(entry))]
    if offsets[-1] != last_offset or any(map(ge, offsets, offsets[1:])):
        raise StructError(f"the header of a batch up to offset {last_offset} is damaged")


def position_of(entry: memoryview, offset: int) -> int:
    """Where the batch begins that holds the offset, or the first one after it."""
    for start, _, last_offset in batches_of(entry):
        if last_offset >= offset:
            return start
    return len(entry)


def whole_batches(
    entry: memoryview, offset: int, end_offset: int, max_bytes: int, whole_first: bool
) -> tuple[int, int]:
    """How far the batches reach that lie below an offset, and fit, but for the first one.

    In bytes, and as the offset behind them: `offset` without any.
    """
    reached = 0
    for start, end, last_offset in batches_of(entry):
        if last_offset >= end_offset or (end > max_bytes and (start or not whole_first)):
            break
        reached, offset = end, last_offset + 1
    return reached, offset
