"""Durations, and numbers, counted by how many bits they have.

What is twice as long stands one place further. That is one small list, made once, and no search for
the right place.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from application.metrics.families.family import Histogram

#: No number has more bits than this.
PLACES = 64
NS = 1e9

#: The last bits of each bucket of durations: 8.192 us, 32.768 us, ... 34.4 s, each four times the
#: one before, since every API in use has a histogram. What has n bits is smaller than 2**n.
DURATION_PLACES = range(13, 36, 2)
SECONDS = tuple((1 << place) / NS for place in DURATION_PLACES)
#: Of numbers: 1, 3, 7, ... 16383.
NUMBER_PLACES = range(1, 15)
NUMBERS = tuple(float((1 << place) - 1) for place in NUMBER_PLACES)


class Numbers:
    __slots__ = ("places", "sum")

    def __init__(self) -> None:
        self.places = [0] * PLACES
        self.sum = 0

    def add(self, number: int) -> None:
        self.places[number.bit_length()] += 1
        self.sum += number

    def merge(self, other: Numbers) -> None:
        self.places = list(map(int.__add__, self.places, other.places))
        self.sum += other.sum

    def histogram(self) -> Histogram:
        return Histogram(NUMBERS, self._counts(NUMBER_PLACES), self.sum)

    def _counts(self, lasts: Sequence[int]) -> Sequence[int]:
        """Of the places up to each of these, and of all behind the last one."""
        edges = [0, *(last + 1 for last in lasts), PLACES]
        return [sum(self.places[start:end]) for start, end in pairwise(edges)]


class Durations(Numbers):
    """In nanoseconds."""

    __slots__ = ()

    def histogram(self) -> Histogram:
        return Histogram(SECONDS, self._counts(DURATION_PLACES), self.sum / NS)

    def mean(self) -> Histogram:
        """Sum and count only."""
        return Histogram((), (sum(self.places),), self.sum / NS)

    def quantile_ns(self, quantile: float) -> float:
        """As if the durations of a number of bits were spread evenly."""
        rank = quantile * sum(self.places)
        before = 0
        for place, count in enumerate(self.places):
            if count and before + count >= rank:
                lowest = (1 << place) >> 1
                return lowest + ((1 << place) - lowest) * (rank - before) / count
            before += count
        return 0.0
