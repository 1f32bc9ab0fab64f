"""Ranges of offsets: what one task reads of one partition."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class OffsetRange(NamedTuple):
    topic: str
    partition: int
    #: Its number in the store.
    partition_id: int
    start: int
    #: The offset after the last one.
    end: int
    #: It begins where no other range of the query ends.
    is_first: bool = True

    @property
    def size(self) -> int:
        return self.end - self.start

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def split(
    ranges: Sequence[OffsetRange], min_ranges: int | None, max_records: int | None
) -> list[OffsetRange]:
    """As Spark's connector does: none longer than `max_records`, and about `min_ranges` of them,
    where the longer a range the more parts it is cut in."""
    ranges = [each for each in ranges if each.size]
    if max_records is not None:
        ranges = [part for each in ranges for part in _parts(each, -(-each.size // max_records))]
    if min_ranges is None or len(ranges) >= min_ranges:
        return list(ranges)
    total = sum(each.size for each in ranges)
    return [
        part
        for each in ranges
        for part in _parts(each, max(1, round(each.size / total * min_ranges)))
    ]


def _parts(whole: OffsetRange, count: int) -> list[OffsetRange]:
    count = min(count, whole.size)
    edges = [whole.start + whole.size * number // count for number in range(count + 1)]
    return [
        whole._replace(start=start, end=end, is_first=whole.is_first and start == whole.start)
        for start, end in pairwise(edges)
    ]
