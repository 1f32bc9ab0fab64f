"""Blocks: frames that were appended or read lately, which consumers near each other share."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

#: Of frames, with the memory of a block itself.
MOST_BYTES = 8 * 1024 * 1024
_BLOCK_BYTES = 400
#: Pieces that are smaller on average take more memory for themselves than for their bytes: here,
#: and in the transport of each consumer that does not read.
_SMALL_BYTES = 1024


class Block(NamedTuple):
    #: Joining large ones would copy them once more; see `block_of`.
    pieces: list[bytes]
    size_bytes: int
    #: Behind its last record.
    next_offset: int

    @property
    def memory_bytes(self) -> int:
        return self.size_bytes + _BLOCK_BYTES


def block_of(pieces: list[bytes], size_bytes: int, next_offset: int) -> Block:
    if size_bytes < len(pieces) * _SMALL_BYTES:
        pieces = [b"".join(pieces)]
    return Block(pieces, size_bytes, next_offset)


class Blocks:
    def __init__(self) -> None:
        #: By the first offset; the least recently used first.
        self._blocks: OrderedDict[int, Block] = OrderedDict()
        self._held_bytes = 0

    def put(self, offset: int, block: Block) -> None:
        before = self._blocks.pop(offset, None)
        self._held_bytes += block.memory_bytes - (before.memory_bytes if before else 0)
        self._blocks[offset] = block
        while self._held_bytes > MOST_BYTES:
            self._held_bytes -= self._blocks.popitem(last=False)[1].memory_bytes

    def from_offset(self, offset: int, most_bytes: int) -> Block:
        """Those that follow each other, as one; empty if there is none."""
        pieces: list[bytes] = []
        size_bytes = 0
        while size_bytes < most_bytes and (block := self._blocks.get(offset)) is not None:
            self._blocks.move_to_end(offset)
            pieces += block.pieces
            size_bytes += block.size_bytes
            offset = block.next_offset
        return block_of(pieces, size_bytes, offset)
