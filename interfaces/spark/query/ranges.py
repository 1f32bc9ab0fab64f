"""Ranges of offsets, one for each task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias, TypeVar


class Place(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


#: An offset for each partition.
Offsets: TypeAlias = "dict[Place, int]"


@dataclass(frozen=True)
class Range:
    """From `start`, up to but without `end`."""

    place: Place
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


R = TypeVar("R", bound=Range)


def for_tasks(ranges: Sequence[R], min_partitions: int | None, max_records: int | None) -> list[R]:
    """Splits ranges for minPartitions and maxRecordsPerPartition, as the connector does."""
    full = [one for one in ranges if one.size > 0]
    if max_records:
        full = [part for one in full for part in _split(one, -(-one.size // max_records))]
    if min_partitions and min_partitions > len(full):
        full = _split_large(full, min_partitions)
    return full


def _split_large(ranges: list[R], tasks: int) -> list[R]:
    """A range smaller than the mean stays whole; the others share the tasks by size."""
    mean = sum(one.size for one in ranges) / tasks
    large = [one for one in ranges if one.size > mean]
    large_size = sum(one.size for one in large)
    shared = tasks - (len(ranges) - len(large))
    parts: list[R] = []
    before = 0
    for one in ranges:
        count = 1
        if one.size > mean:
            after = before + one.size
            count = after * shared // large_size - before * shared // large_size
            before = after
        parts += _split(one, max(1, min(count, one.size)))
    return parts


def _split(whole: R, count: int) -> list[R]:
    edges = [whole.start + whole.size * number // count for number in range(count + 1)]
    return [replace(whole, start=start, end=end) for start, end in pairwise(edges)]
