"""The stream index as rows, the same for every engine.

positions       partition id, end position -> first offset, number of records, their sizes

Records of one size have it once.
"""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from struct import error as StructError

from application.ports.state_store import StateStore
from domain.errors import StorageFailed
from domain.streams.chunk import Chunk
from domain.streams.frames import LENGTH_BYTES
from infrastructure.storage.repositories.partition_rows import KEY

_POSITIONS = "positions"
_HEAD = Struct(">QI")
_LARGEST = 1 << 63


class StoredStreamIndex:
    __slots__ = ("_state",)

    def __init__(self, state: StateStore) -> None:
        self._state = state

    def add(self, partition_id: int, chunk: Chunk) -> None:
        count = len(chunk.sizes)
        sizes = chunk.sizes[:1] if chunk.is_uniform else chunk.sizes
        row = _HEAD.pack(chunk.first_offset, count) + pack(f">{len(sizes)}I", *sizes)
        self._state.put(_POSITIONS, KEY.pack(partition_id, chunk.end), row)

    def above(self, partition_id: int, position: int) -> Chunk | None:
        chunks = self._chunks(partition_id, position + 1, 1)
        return chunks[0] if chunks else None

    def newest(self, partition_id: int) -> Chunk | None:
        """By bisection, because rows are found upwards only."""
        newest, low, high = None, 0, _LARGEST
        while low < high:
            middle = (low + high) // 2
            found = self.above(partition_id, middle)
            if found is None:
                high = middle
            else:
                newest, low = found, found.end
        return newest

    def below(self, partition_id: int, offset: int, max_chunks: int) -> list[int]:
        chunks = self._chunks(partition_id, 0, max_chunks + 1)
        return [one.end for one in chunks[:-1] if one.next_offset <= offset]

    def remove(self, partition_id: int, end: int) -> None:
        self._state.put(_POSITIONS, KEY.pack(partition_id, end), None)

    def drop(self, partition_id: int, max_chunks: int) -> bool:
        chunks = self._chunks(partition_id, 0, max_chunks)
        for one in chunks:
            self.remove(partition_id, one.end)
        return len(chunks) < max_chunks

    def _chunks(self, partition_id: int, end: int, limit: int) -> list[Chunk]:
        rows = self._state.scan(_POSITIONS, KEY.pack(partition_id, end), limit)
        found = ((*KEY.unpack(key), row) for key, row in rows)
        return [_chunk(end, row) for found_id, end, row in found if found_id == partition_id]


def _chunk(end: int, row: bytes) -> Chunk:
    try:
        first_offset, count = _HEAD.unpack_from(row)
        sizes = unpack_from(f">{(len(row) - _HEAD.size) // 4}I", row, _HEAD.size)
    except StructError as damage:
        raise StorageFailed(f"The store could not read a row of positions: {damage!r}") from damage
    if len(sizes) == 1:
        sizes *= count
    return Chunk(end - sum(sizes) - LENGTH_BYTES * count, first_offset, sizes)
