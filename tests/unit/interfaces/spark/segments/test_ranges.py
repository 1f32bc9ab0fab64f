"""How ranges are cut for executors: nothing is lost between them, or read twice."""

from __future__ import annotations

from itertools import pairwise

import pytest

from interfaces.spark.segments.ranges import OffsetRange, split

LARGE = OffsetRange("a", 0, 10, 100, 1100)
SMALL = OffsetRange("a", 1, 11, 0, 10)
EMPTY = OffsetRange("b", 0, 12, 7, 7)


def test_a_range_is_a_task_unless_more_are_wanted() -> None:
    assert split([LARGE, EMPTY, SMALL], None, None) == [LARGE, SMALL]
    assert split([LARGE, SMALL], 2, 1000) == [LARGE, SMALL]
    assert split([EMPTY], 5, 5) == []


@pytest.mark.parametrize(("least", "most"), [(7, None), (None, 3), (5, 150), (2000, None), (3, 1)])
def test_parts_follow_each_other(least: int | None, most: int | None) -> None:
    parts = split([LARGE, SMALL], least, most)
    for whole in (LARGE, SMALL):
        mine = [part for part in parts if part.partition_id == whole.partition_id]
        assert (mine[0].start, mine[-1].end) == (whole.start, whole.end)
        assert all(left.end == right.start for left, right in pairwise(mine))
        assert [part.is_first for part in mine] == [True] + [False] * (len(mine) - 1)
    assert all(part.size for part in parts)
    assert most is None or all(part.size <= most for part in parts)
    assert least is None or len(parts) >= min(least, 1010)


def test_the_longer_range_gets_more_parts() -> None:
    parts = split([LARGE, SMALL], 10, None)
    assert len([part for part in parts if part.partition_id == 10]) == 10
