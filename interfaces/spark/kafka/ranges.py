"""Parts of a log that are read: what each task gets, and how much a micro-batch takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias


class Place(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


#: Of each partition an offset.
Offsets: TypeAlias = "dict[Place, int]"


class Range(NamedTuple):
    """From `start`, and before `end`."""

    place: Place
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


def for_tasks(
    ranges: Sequence[Range], min_partitions: int | None, max_records: int | None
) -> list[Range]:
    """One task a range, unless the options want more of them: as the connector splits them."""
    full = [one for one in ranges if one.size > 0]
    if max_records:
        full = [part for one in full for part in _split(one, -(-one.size // max_records))]
    if min_partitions and min_partitions > len(full):
        full = _split_large(full, min_partitions)
    return full


def _split_large(ranges: list[Range], wanted: int) -> list[Range]:
    """A range that is smaller than the mean stays whole; the others share the tasks by size."""
    mean = sum(one.size for one in ranges) / wanted
    large = [one for one in ranges if one.size > mean]
    large_size = sum(one.size for one in large)
    tasks = wanted - (len(ranges) - len(large))
    parts: list[Range] = []
    before = 0
    for one in ranges:
        count = 1
        if one.size > mean:
            after = before + one.size
            count = after * tasks // large_size - before * tasks // large_size
            before = after
        parts += _split(one, max(1, min(count, one.size)))
    return parts


def _split(whole: Range, count: int) -> list[Range]:
    edges = [whole.start + whole.size * number // count for number in range(count + 1)]
    return [Range(whole.place, *edge) for edge in pairwise(edges)]


def limited(start: Mapping[Place, int], end: Mapping[Place, int], most: int) -> Offsets:
    """Ends at most `most` records away altogether, each partition by its share of what waits.

    A partition with anything at all gets one record, so that none is starved.
    """
    waiting = {place: max(0, end[place] - start[place]) for place in end}
    total = sum(waiting.values())
    if total <= most:
        return dict(end)
    # Whole numbers throughout: a float would not hold large offsets.
    return {
        place: start[place] + max(1, waiting[place] * most // total)
        if waiting[place]
        else end[place]
        for place in end
    }
