"""maxOffsetsPerTrigger, and offsets in checkpoints."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from interfaces.spark.kafka import checkpoints
from interfaces.spark.kafka.limits import limited
from interfaces.spark.query.ranges import Place

T0, T1, T2 = Place("t", 0), Place("t", 1), Place("t", 2)
sizes = some.lists(some.integers(0, 1000) | some.integers(2**53, 2**54), max_size=6)


def test_a_limit_is_shared_by_lag() -> None:
    ends = limited({T0: 0, T1: 100, T2: 7}, {T0: 900, T1: 200, T2: 7}, 100)
    assert ends == {T0: 90, T1: 110, T2: 7}


@given(sizes, some.integers(1, 500))
def test_a_limit_starves_no_partition(found: list[int], most: int) -> None:
    starts = {Place("t", number): 10 * number for number in range(len(found))}
    ends = {place: start + size for (place, start), size in zip(starts.items(), found, strict=True)}
    taken = limited(starts, ends, most)
    for place, start in starts.items():
        assert start <= taken[place] <= ends[place]
        assert start == ends[place] or taken[place] > start
    assert sum(taken[place] - start for place, start in starts.items()) <= most + len(found)


def test_a_truncated_log_has_no_lag() -> None:
    assert limited({T0: 50, T1: 0}, {T0: 20, T1: 100}, 10) == {T0: 20, T1: 10}


def test_offsets_in_checkpoints_are_sorted() -> None:
    offsets = {Place("t", 10): 5, Place("t", 2): 7, Place("a", 0): 1}
    text = checkpoints.written(offsets)
    assert list(text.items()) == [("a", {"0": 1}), ("t", {"2": 7, "10": 5})]
    assert list(text["t"]) == ["2", "10"]
    assert checkpoints.read(text) == offsets
