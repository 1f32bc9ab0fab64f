"""Percentiles against numpy's of the values themselves."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interfaces.spark.reports.histogram import PERCENTILES, Histogram

numpy = pytest.importorskip("numpy", reason="needs what Spark brings")

durations = st.lists(st.integers(0, 2**45), min_size=1, max_size=300)


def of(values: list[int]) -> Histogram:
    made = Histogram()
    made.add(numpy.array(values))
    return made


@given(durations)
def test_percentiles_are_right_to_a_part_in_a_thousand(values: list[int]) -> None:
    found = of(values).percentiles()
    for percentile in PERCENTILES:
        exact = int(numpy.percentile(values, percentile, method="inverted_cdf"))
        assert exact <= found[percentile] <= exact * 1.001 + 1


@given(durations, durations)
def test_merged_is_as_if_counted_together(some: list[int], others: list[int]) -> None:
    merged = of(some)
    merged.merge(Histogram.from_json(json.loads(json.dumps(of(others).to_json()))))
    together = of(some + others)
    assert merged.percentiles() == together.percentiles()
    assert (merged.count, merged.max) == (together.count, together.max)
    assert merged.mean == pytest.approx(together.mean)


def test_of_nothing() -> None:
    empty = Histogram()
    empty.add(numpy.array([], dtype=numpy.int64))
    assert (empty.count, empty.max, empty.mean, empty.at(99)) == (0, 0, 0.0, 0)
    assert set(empty.percentiles().values()) == {0}


def test_what_is_below_zero_counts_as_zero() -> None:
    assert of([-5, 7]).percentiles([50, 100]) == {50: 0, 100: 7}


def test_a_curve_rises_to_the_highest() -> None:
    curve = of(list(range(1, 10_001))).curve()
    assert curve[0] == (0.0, 1)
    assert [value for _, value in curve] == sorted(value for _, value in curve)
    assert curve[-1][0] == pytest.approx(99.99)


@given(durations)
def test_by_powers_of_two_each_is_counted_where_it_belongs(values: list[int]) -> None:
    found = of([*values, 0]).by_powers()
    assert found == [
        (low, high, sum(low <= value <= high for value in [*values, 0])) for low, high, _ in found
    ]
    assert sum(count for _, _, count in found) == len(values) + 1
    assert of([]).by_powers() == []
