"""The ranges of tasks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from interfaces.spark.query.ranges import Place, Range, for_tasks
from interfaces.spark.segments.ranges import StoredRange

T0, T1, T2 = Place("t", 0), Place("t", 1), Place("t", 2)
sizes = some.lists(some.integers(0, 1000) | some.integers(2**53, 2**54), max_size=6)


def ranges_of(found: list[int]) -> list[Range]:
    return [Range(Place("t", n), 10 * n, 10 * n + size) for n, size in enumerate(found)]


def test_each_range_is_a_task_unless_it_is_empty() -> None:
    full, empty = Range(T0, 5, 9), Range(T1, 7, 7)
    assert for_tasks([full, empty, Range(T2, 9, 3)], None, None) == [full]


def test_large_ranges_are_split_for_more_tasks() -> None:
    parts = for_tasks([Range(T0, 0, 90), Range(T1, 0, 10)], 4, None)
    assert parts == [Range(T0, 0, 30), Range(T0, 30, 60), Range(T0, 60, 90), Range(T1, 0, 10)]


def test_a_task_has_at_most_max_records() -> None:
    assert for_tasks([Range(T0, 10, 21)], None, 4) == [
        Range(T0, 10, 13),
        Range(T0, 13, 17),
        Range(T0, 17, 21),
    ]


@given(sizes, some.none() | some.integers(1, 40), some.none() | some.integers(2**50, 2**54))
def test_parts_are_the_whole_without_gap_or_overlap(
    found: list[int], tasks: int | None, most: int | None
) -> None:
    whole = ranges_of(found)
    parts = for_tasks(whole, tasks, most)
    assert all(part.size > 0 for part in parts)
    assert len(parts) >= min(tasks or 0, sum(found))
    assert all(part.size <= most for part in parts if most)
    for one in whole:
        mine = [part for part in parts if part.place == one.place]
        edges = [one.start, *(part.end for part in mine)]
        assert [part.start for part in mine] == edges[:-1]
        assert edges[-1] == one.end or one.size == 0


def test_parts_have_the_other_fields_of_the_whole() -> None:
    whole = StoredRange(T0, 100, 1100, partition_id=7, first=100)
    parts = for_tasks([whole], 4, None)
    assert [part.start for part in parts] == [100, 350, 600, 850]
    assert {part.partition_id for part in parts} == {7}
    assert [part.is_first for part in parts] == [True, False, False, False]
