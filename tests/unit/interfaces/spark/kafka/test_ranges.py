"""What each task gets, and what a micro-batch takes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from interfaces.spark.kafka import checkpoints
from interfaces.spark.kafka.ranges import Place, Range, for_tasks, limited

T0, T1, T2 = Place("t", 0), Place("t", 1), Place("t", 2)
sizes = some.lists(some.integers(0, 1000) | some.integers(2**53, 2**54), max_size=6)


def ranges_of(found: list[int]) -> list[Range]:
    return [Range(Place("t", n), 10 * n, 10 * n + size) for n, size in enumerate(found)]


def test_a_range_is_a_task_and_an_empty_one_is_none() -> None:
    full, empty = Range(T0, 5, 9), Range(T1, 7, 7)
    assert for_tasks([full, empty, Range(T2, 9, 3)], None, None) == [full]


def test_large_ranges_are_split_for_more_tasks() -> None:
    parts = for_tasks([Range(T0, 0, 90), Range(T1, 0, 10)], 4, None)
    assert parts == [Range(T0, 0, 30), Range(T0, 30, 60), Range(T0, 60, 90), Range(T1, 0, 10)]


def test_a_task_has_no_more_records_than_wanted() -> None:
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


def test_a_limit_is_shared_by_what_waits() -> None:
    ends = limited({T0: 0, T1: 100, T2: 7}, {T0: 900, T1: 200, T2: 7}, 100)
    assert ends == {T0: 90, T1: 110, T2: 7}


@given(sizes, some.integers(1, 500))
def test_a_limit_starves_no_partition_and_is_hardly_passed(found: list[int], most: int) -> None:
    whole = ranges_of(found)
    starts, ends = {r.place: r.start for r in whole}, {r.place: r.end for r in whole}
    taken = limited(starts, ends, most)
    for one in whole:
        assert one.start <= taken[one.place] <= one.end
        assert one.size == 0 or taken[one.place] > one.start
    assert sum(taken[r.place] - r.start for r in whole) <= most + len(whole)


def test_a_log_that_became_shorter_gives_nothing() -> None:
    assert limited({T0: 50, T1: 0}, {T0: 20, T1: 100}, 10) == {T0: 20, T1: 10}


def test_offsets_are_written_as_the_connector_writes_them_and_always_alike() -> None:
    offsets = {Place("t", 10): 5, Place("t", 2): 7, Place("a", 0): 1}
    text = checkpoints.written(offsets)
    assert list(text.items()) == [("a", {"0": 1}), ("t", {"2": 7, "10": 5})]
    assert list(text["t"]) == ["2", "10"]
    assert checkpoints.read(text) == offsets
