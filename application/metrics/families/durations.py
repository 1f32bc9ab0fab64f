"""Durations, and numbers, counted by how many bits they have.

What is twice as long stands one place further. That is one small list, made once, and no search for
the right place.
"""

from __future__ import annotations

from collections.abc import Sequence

from application.metrics.families.family import Histogram

#: No number has more bits than this.
PLACES = 64
NS = 1e9

#: Of durations: 2.048 us, 4.096 us, ... 17.2 s. What has n bits is smaller than 2**n.
FIRST_PLACE, LAST_PLACE = 11, 34
SECONDS = tuple((1 << place) / NS for place in range(FIRST_PLACE, LAST_PLACE + 1))
#: Of numbers: 1, 3, 7, ... 16383.
LAST_NUMBER_PLACE = 14
NUMBERS = tuple(float((1 << place) - 1) for place in range(1, LAST_NUMBER_PLACE + 1))


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
        return Histogram(NUMBERS, self._counts(1, LAST_NUMBER_PLACE), self.sum)

    def _counts(self, first: int, last: int) -> Sequence[int]:
        """Of all places up to the first, of each up to the last, and of all behind it."""
        places = self.places
        between = places[first + 1 : last + 1]
        return [sum(places[: first + 1]), *between, sum(places[last + 1 :])]


class Durations(Numbers):
    """In nanoseconds."""

    __slots__ = ()

    def histogram(self) -> Histogram:
        return Histogram(SECONDS, self._counts(FIRST_PLACE, LAST_PLACE), self.sum / NS)

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
