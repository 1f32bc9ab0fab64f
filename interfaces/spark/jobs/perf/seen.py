"""Which numbers came: a bit each, in workers and where they are held against what was sent.

A run of a day has some 10^10 records: a byte each were more than a machine has.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

#: Bytes, to begin with.
_LEAST = 1 << 13


class Seen:
    """Which numbers came, and how often one came that was there before."""

    def __init__(self) -> None:
        self._bits: Any = None
        self.doubled = 0

    def add(self, numbers: Any) -> None:
        import numpy

        once = numpy.unique(numbers)
        places, bits = once >> 3, (1 << (once & 7)).astype(numpy.uint8)
        self._grow(int(places[-1]) + 1)
        again = numpy.count_nonzero(self._bits[places] & bits)
        self.doubled += len(numbers) - len(once) + int(again)
        firsts = numpy.flatnonzero(numpy.diff(places, prepend=-1))
        self._bits[places[firsts]] |= numpy.bitwise_or.reduceat(bits, firsts)

    def _grow(self, size: int) -> None:
        """By a half at the least, so that it is seldom."""
        import numpy

        if self._bits is None:
            self._bits = numpy.zeros(max(size, _LEAST), numpy.uint8)
        elif size > len(self._bits):
            grown: Any = numpy.zeros(max(size, len(self._bits) * 3 // 2), numpy.uint8)
            grown[: len(self._bits)] = self._bits
            self._bits = grown

    def packed(self) -> bytes:
        return b"" if self._bits is None else zlib.compress(self._bits.tobytes(), 1)


def unpacked(packed: bytes, size: int) -> tuple[Any, int]:
    """The bits of the numbers below `size`, and how many are beyond."""
    import numpy

    whole: Any = bits_of(size)
    came: Any = numpy.frombuffer(zlib.decompress(packed) if packed else b"", numpy.uint8)
    shared = min(len(whole), len(came))
    whole[:shared] = came[:shared]
    if size % 8:
        whole[-1] &= (1 << size % 8) - 1
    return whole, how_many(came) - how_many(whole)


def bits_of(size: int, but: Iterable[int] | None = None) -> Any:
    """Of the numbers below `size`: none, or all `but` some."""
    import numpy

    if but is None:
        return numpy.zeros((size + 7) // 8, numpy.uint8)
    bits: Any = numpy.full((size + 7) // 8, 255, numpy.uint8)
    if size % 8:
        bits[-1] = (1 << size % 8) - 1
    for number in but:
        if 0 <= number < size:
            bits[number >> 3] &= 255 ^ (1 << (number & 7))
    return bits


def how_many(bits: Any) -> int:
    return int.from_bytes(bits.tobytes(), "little").bit_count()
