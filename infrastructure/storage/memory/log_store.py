"""The log in memory: for tests, demos and temporary brokers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import partial

from application.ports.log_store import NOT_INDEXED, Buffer, IndexEntry, LogName, Trimmed
from domain.messages.batch import HEADER_BYTES, next_offset
from infrastructure.storage.memory.store import MemoryPartition, MemoryStore


class MemoryLogStore:
    __slots__ = ("_store",)

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def append(
        self,
        partition_id: int,
        last_offset: int,
        batch: Buffer,
        indexed_timestamp: int = NOT_INDEXED,
        begins_segment: bool = False,
    ) -> None:
        store = self._store
        store.lengthen(partition_id, 1)
        store.staged.append(
            partial(self._add, partition_id, last_offset, bytes(batch), indexed_timestamp)
        )

    def _add(
        self, partition_id: int, last_offset: int, batch: bytes, indexed_timestamp: int
    ) -> None:
        partition = self._store.partitions.get(partition_id)
        if partition is None:
            partition = self._store.partitions[partition_id] = MemoryPartition()
        partition.batches.append(batch)
        partition.last_offsets.append(last_offset)
        if indexed_timestamp >= 0:
            partition.index(indexed_timestamp, last_offset)

    def name(self, partition_id: int, name: LogName | None) -> None:
        """Only the rows of topics say it."""

    def read(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int, whole_first: bool
    ) -> bytes:
        partition = self._store.partitions.get(partition_id)
        if partition is None:
            return b""
        first = partition.position_of(offset)
        end = partition.position_of(end_offset)
        size_bytes = 0
        position = first
        while position < end:
            size_bytes += len(partition.batches[position])
            if size_bytes > max_bytes and (position > first or not whole_first):
                break
            position += 1
        return b"".join(partition.batches[first:position])

    def read_to(
        self,
        partition_id: int,
        offset: int,
        end_offset: int,
        max_bytes: int,
        whole_first: bool,
        loads: bool = True,
    ) -> tuple[bytes, int]:
        records = self.read(partition_id, offset, end_offset, max_bytes, whole_first)
        return records, next_offset(records) if records else offset

    def headers(
        self, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        partition = self._store.partitions.get(partition_id)
        if partition is None:
            return []
        first = partition.position_of(offset)
        return [batch[:HEADER_BYTES] for batch in partition.batches[first : first + limit]]

    def at_timestamp(self, partition_id: int, timestamp: int) -> int:
        partition = self._store.partitions.get(partition_id)
        if partition is None:
            return 0
        position = bisect_left(partition.timestamps, timestamp)
        return partition.indexed_offsets[position - 1] + 1 if position else 0

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
        store = self._store
        partition = store.partitions.get(partition_id, MemoryPartition())
        before = partition.batches_within(first_offset, last_offset)
        after = [bytes(batch) for batch in batches]
        store.lengthen(partition_id, len(after) - len(before))
        store.staged.append(
            partial(self._replace, partition_id, first_offset, last_offset, after, list(indexed))
        )
        return sum(map(len, after)) - sum(map(len, before))

    def _replace(
        self,
        partition_id: int,
        first_offset: int,
        last_offset: int,
        batches: list[bytes],
        indexed: list[IndexEntry],
    ) -> None:
        partition = self._store.partitions.get(partition_id)
        if partition is not None:
            partition.replace(first_offset, last_offset, batches)
            partition.replace_index(first_offset, last_offset, indexed)

    def trim(self, partition_id: int, offset: int, max_batches: int) -> Trimmed:
        store = self._store
        partition = store.partitions.get(partition_id)
        if partition is None:
            return Trimmed(0, True)
        first = store.dropped(partition_id)
        below = partition.position_of(offset)
        end = max(first, min(below, first + max_batches))
        store.drop(partition_id, end - first)
        store.staged.append(partial(self._trim, partition_id, end - first, offset))
        return Trimmed(sum(map(len, partition.batches[first:end])), end >= below)

    def _trim(self, partition_id: int, count: int, offset: int) -> None:
        partition = self._store.partitions.get(partition_id)
        if partition is not None:
            partition.forget_index_below(offset)
        self._drop(partition_id, count)

    def drop(self, partition_id: int, max_batches: int) -> bool:
        store = self._store
        dropped = min(store.length(partition_id), max_batches)
        store.drop(partition_id, dropped)
        store.staged.append(partial(self._drop, partition_id, dropped))
        return store.length(partition_id) == 0

    def _drop(self, partition_id: int, count: int) -> None:
        partition = self._store.partitions.get(partition_id)
        if partition is not None:
            partition.drop(count)
            if not partition.batches:
                del self._store.partitions[partition_id]

    def partition_ids(self) -> list[int]:
        return sorted(self._store.partitions)
