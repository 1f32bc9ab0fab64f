"""Durations, and numbers, counted by how many bits they have: see request_counts.py."""

from __future__ import annotations

from collections.abc import Sequence

from application.metrics.families.family import Histogram
from application.metrics.families.request_counts import PLACES

NS = 1e9

#: Of durations: 2.048 us, 4.096 us, ... 17.2 s. What has n bits is smaller than 2**n.
FIRST_PLACE, LAST_PLACE = 11, 34
SECONDS = tuple((1 << place) / NS for place in range(FIRST_PLACE, LAST_PLACE + 1))
#: Of numbers: 1, 3, 7, ... 16383.
NUMBER_PLACES = 14
NUMBERS = tuple(float((1 << place) - 1) for place in range(1, NUMBER_PLACES + 1))


class Durations:
    __slots__ = ("places", "sum_ns")

    def __init__(self) -> None:
        self.places = [0] * PLACES
        self.sum_ns = 0

    def add(self, duration_ns: int) -> None:
        self.places[duration_ns.bit_length()] += 1
        self.sum_ns += duration_ns

    def histogram(self) -> Histogram:
        return seconds(self.places, self.sum_ns)


class Numbers:
    __slots__ = ("places", "sum")

    def __init__(self) -> None:
        self.places = [0] * PLACES
        self.sum = 0

    def add(self, number: int) -> None:
        self.places[number.bit_length()] += 1
        self.sum += number

    def histogram(self) -> Histogram:
        places = self.places
        first = places[0] + places[1]
        between = places[2 : NUMBER_PLACES + 1]
        return Histogram(NUMBERS, [first, *between, sum(places[NUMBER_PLACES + 1 :])], self.sum)


def seconds(places: Sequence[int], sum_ns: int) -> Histogram:
    first = sum(places[: FIRST_PLACE + 1])
    between = places[FIRST_PLACE + 1 : LAST_PLACE + 1]
    return Histogram(SECONDS, [first, *between, sum(places[LAST_PLACE + 1 :])], sum_ns / NS)


def quantile_ns(places: Sequence[int], quantile: float) -> float:
    """Where it lies among the durations of its number of bits, as if they were spread evenly."""
    wanted = quantile * sum(places)
    before = 0
    for place, count in enumerate(places):
        if count and before + count >= wanted:
            lowest = (1 << place) >> 1
            return lowest + ((1 << place) - lowest) * (wanted - before) / count
        before += count
    return 0.0
