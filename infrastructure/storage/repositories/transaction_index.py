"""The transaction index as rows, the same for every engine.

aborted         partition id, offset of the marker -> producer id, first offset, last stable offset
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from struct import error as StructError

from application.ports.state_store import StateStore
from domain.configs.settings.definition import LONG_MAX
from domain.errors import StorageFailed
from domain.partitions.transactions import AbortedTransaction
from infrastructure.storage.repositories.partition_rows import KEY, rows_from

ABORTED = "aborted"
_ENTRY = Struct(">qqq")

#: Rows that are read at once: by jobs, and by a fetch, which has few.
_ROWS_AT_ONCE, _ROWS_OF_A_FETCH = 32, 8


def aborted_of(last_offset: int, row: bytes) -> AbortedTransaction:
    """Raises struct.error."""
    producer_id, first_offset, last_stable_offset = _ENTRY.unpack(row)
    return AbortedTransaction(producer_id, first_offset, last_offset, last_stable_offset)


class StoredTransactionIndex:
    __slots__ = ("_state",)

    def __init__(self, state: StateStore) -> None:
        self._state = state

    def add(self, partition_id: int, aborted: AbortedTransaction) -> None:
        row = _ENTRY.pack(aborted.producer_id, aborted.first_offset, aborted.last_stable_offset)
        self._state.put(ABORTED, KEY.pack(partition_id, aborted.last_offset), row)

    def since(self, partition_id: int, offset: int) -> Iterator[AbortedTransaction]:
        return self._since(partition_id, offset, _ROWS_AT_ONCE)

    def _since(
        self, partition_id: int, offset: int, rows_at_once: int
    ) -> Iterator[AbortedTransaction]:
        for last_offset, row in rows_from(self._state, ABORTED, partition_id, offset, rows_at_once):
            try:
                yield aborted_of(last_offset, row)
            except StructError as damage:
                raise StorageFailed(
                    f"The store could not read the transaction index of partition "
                    f"{partition_id}: {damage!r}"
                ) from damage

    def overlapping(
        self, partition_id: int, offset: int, end_offset: int
    ) -> list[AbortedTransaction]:
        found = []
        for one in self._since(partition_id, offset, _ROWS_OF_A_FETCH):
            if one.first_offset < end_offset:
                found.append(one)
            if one.last_stable_offset >= end_offset:
                break
        return found

    def remove(self, partition_id: int, last_offset: int) -> None:
        self._state.put(ABORTED, KEY.pack(partition_id, last_offset), None)

    def remove_from(self, partition_id: int, offset: int) -> None:
        for last_offset, _ in rows_from(self._state, ABORTED, partition_id, offset, _ROWS_AT_ONCE):
            self.remove(partition_id, last_offset)

    def below(self, partition_id: int, offset: int, max_entries: int) -> list[int]:
        end = KEY.pack(partition_id, offset)
        rows = self._state.scan(ABORTED, KEY.pack(partition_id, 0), max_entries)
        return [KEY.unpack(key)[1] for key, _ in rows if key < end]

    def drop(self, partition_id: int, max_entries: int) -> bool:
        last_offsets = self.below(partition_id, LONG_MAX, max_entries)
        for last_offset in last_offsets:
            self.remove(partition_id, last_offset)
        return len(last_offsets) < max_entries
