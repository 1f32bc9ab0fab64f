"""StreamIndex: the positions of the records of each partition that raw listeners have served."""

from __future__ import annotations

from typing import Protocol

from domain.streams.chunk import Chunk


class StreamIndex(Protocol):
    """`add`, `remove` and `drop` stage changes; the others see committed chunks only."""

    def add(self, partition_id: int, chunk: Chunk) -> None: ...

    def above(self, partition_id: int, position: int) -> Chunk | None:
        """The first chunk that ends above a position."""
        ...

    def newest(self, partition_id: int) -> Chunk | None: ...

    def below(self, partition_id: int, offset: int, max_chunks: int) -> list[int]:
        """The end positions of up to `max_chunks` chunks whose records are below an offset, but
        not of the newest chunk: later positions continue from it.
        """
        ...

    def remove(self, partition_id: int, end: int) -> None:
        """The chunk that ends at this position."""
        ...

    def drop(self, partition_id: int, max_chunks: int) -> bool:
        """Up to `max_chunks` chunks of a deleted partition; True if nothing is left."""
        ...
