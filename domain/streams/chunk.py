"""Chunk: the positions of consecutive records of a stream.

The position of a record is the number of bytes of all frames before it. It never changes, so it
does not follow from the records that are left: the sizes of all are remembered.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from domain.streams.frames import LENGTH_BYTES


class Chunk(NamedTuple):
    #: The position of the first record.
    start: int
    first_offset: int
    #: Of the values; there is at least one.
    sizes: Sequence[int]

    @property
    def end(self) -> int:
        return self.start + sum(self.sizes) + LENGTH_BYTES * len(self.sizes)

    @property
    def next_offset(self) -> int:
        return self.first_offset + len(self.sizes)

    @property
    def is_uniform(self) -> bool:
        return self.sizes.count(self.sizes[0]) == len(self.sizes)

    def positions(self) -> Sequence[int]:
        step, count = self.sizes[0] + LENGTH_BYTES, len(self.sizes)
        if self.is_uniform:
            return range(self.start, self.start + count * step, step)
        steps = (size + LENGTH_BYTES for size in self.sizes[:-1])
        return list(accumulate(steps, initial=self.start))

    def offset_at(self, position: int) -> int | None:
        """Of the record that begins there; None: within a record."""
        positions = self.positions()
        index = bisect_left(positions, position)
        found = index < len(positions) and positions[index] == position
        return self.first_offset + index if found else None
