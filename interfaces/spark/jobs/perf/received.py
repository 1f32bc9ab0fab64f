"""The numbers of the records that a consumer received: a bit each, in its task and in the driver.

A run of a day has 10^10 records; a byte each would be more memory than a machine has.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

_LEAST_BYTES = 1 << 13


class Received:
    def __init__(self) -> None:
        self._bits: Any = None
        #: Records whose number came before.
        self.doubled = 0

    def add(self, numbers: Any) -> None:
        import numpy

        once = numpy.unique(numbers)
        places, bits = once >> 3, (1 << (once & 7)).astype(numpy.uint8)
        self._grow(int(places[-1]) + 1)
        again = numpy.count_nonzero(self._bits[places] & bits)
        self.doubled += len(numbers) - len(once) + int(again)
        numpy.bitwise_or.at(self._bits, places, bits)

    def _grow(self, size: int) -> None:
        """By a half at least, so that copies are rare."""
        import numpy

        old = 0 if self._bits is None else len(self._bits)
        if size > old:
            grown: Any = numpy.zeros(max(size, old * 3 // 2, _LEAST_BYTES), numpy.uint8)
            grown[:old] = self._bits[:old] if old else 0
            self._bits = grown

    def packed(self) -> bytes:
        return b"" if self._bits is None else zlib.compress(self._bits.tobytes(), 1)


def unpacked(packed: bytes, size: int) -> tuple[Any, int]:
    """The bits of the numbers below `size`, and how many are beyond."""
    import numpy

    came: Any = numpy.frombuffer(zlib.decompress(packed) if packed else b"", numpy.uint8)
    whole: Any = bits_of(size)
    shared = min(len(whole), len(came))
    whole[:shared] = came[:shared]
    if size % 8:
        whole[-1] &= (1 << size % 8) - 1
    return whole, how_many(came) - how_many(whole)


def bits_of(size: int, but: Iterable[int] | None = None) -> Any:
    """Of the numbers below `size`: none, or all `but` some."""
    import numpy

    bits: Any = numpy.zeros((size + 7) // 8, numpy.uint8)
    if but is not None:
        bits[:] = 255
        if size % 8:
            bits[-1] = (1 << size % 8) - 1
        for number in but:
            if 0 <= number < size:
                bits[number >> 3] &= 255 ^ (1 << (number & 7))
    return bits


def how_many(bits: Any) -> int:
    return int.from_bytes(bits.tobytes(), "little").bit_count()
