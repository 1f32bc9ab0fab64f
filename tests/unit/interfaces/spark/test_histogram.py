"""Percentiles against numpy's of the values themselves."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interfaces.spark.reports.histogram import Histogram

numpy = pytest.importorskip("numpy", reason="needs what Spark brings")
pytest.importorskip("hdrh", reason="needs what Spark's extra brings")

durations = st.lists(st.integers(0, 2**36), min_size=1, max_size=300)


def of(values: list[int]) -> Histogram:
    made = Histogram()
    made.add(numpy.array(values))
    return made


@given(durations, durations)
def test_percentiles_have_three_digits_also_when_merged(some: list[int], others: list[int]) -> None:
    merged = of(some)
    merged.merge(pickle.loads(pickle.dumps(of(others))))
    values = some + others
    for percentile, found in merged.percentiles().items():
        # HdrHistogram rounds to the nearest rank, numpy here up.
        ranks = [max(int(percentile / 100 * len(values) + at), 1) for at in (0.0, 0.5, 1.0)]
        near = [sorted(values)[min(rank, len(values)) - 1] for rank in ranks]
        assert min(near) <= found <= max(near) * 1.001 + 1
    assert merged.count == len(values)
    assert merged.mean == pytest.approx(sum(values) / len(values))
    assert max(values) <= merged.max <= max(values) * 1.001 + 1


def test_an_empty_histogram() -> None:
    empty = Histogram()
    empty.add(numpy.array([], dtype=numpy.int64))
    empty.merge(pickle.loads(pickle.dumps(Histogram())))
    assert (empty.count, empty.max, empty.mean, empty.curve()) == (0, 0, 0.0, [])
    assert set(empty.percentiles().values()) == {0}


def test_values_below_zero_count_as_zero() -> None:
    assert of([-5, 7]).percentiles()[50.0] == 0


def test_a_curve_rises_to_the_maximum() -> None:
    curve = of(list(range(1, 10_001))).curve()
    assert [value for _, value in curve] == sorted(value for _, value in curve)
    assert curve[-1][0] == 100
