"""Counts by time stay few, and none of them is lost."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interfaces.spark.jobs.analyze.over_time import (
    MINUTE_MS,
    MINUTES_OF_A_DAY,
    MOST_MOMENTS,
    WIDTHS_MS,
    LastDay,
    Moments,
)

numpy = pytest.importorskip("numpy", reason="needs what Spark brings")

SECOND_MS, DAY_MS = 1000, 86_400_000


def of(times: list[int]) -> Moments:
    made = Moments()
    made.add(numpy.array(times), numpy.array(times) * 0 + 7)
    return made


def test_a_minute_is_told_by_seconds_and_a_year_by_days() -> None:
    assert of(list(range(0, 60_000, 500))).width_ms == SECOND_MS
    assert of(list(range(0, 365 * DAY_MS, DAY_MS // 8))).width_ms == DAY_MS


def test_each_width_is_a_multiple_of_the_one_before_it() -> None:
    assert all(b % a == 0 for a, b in pairwise(WIDTHS_MS))


@given(st.lists(st.lists(st.integers(-(2**53), 2**53), min_size=1, max_size=50), max_size=30))
def test_merged_they_stay_few_and_all_are_counted(parts: list[list[int]]) -> None:
    whole = Moments()
    for part in parts:
        whole.merge(Moments.from_json(json.loads(json.dumps(of(part).to_json()))))
    assert len(whole.counts) <= MOST_MOMENTS
    assert sum(records for records, _ in whole.counts.values()) == sum(map(len, parts))
    assert sum(size for _, size in whole.counts.values()) == 7 * sum(map(len, parts))
    for time in (time for part in parts for time in part):
        assert time // whole.width_ms in whole.counts


def test_spread_over_all_time_they_are_still_few() -> None:
    times = [number * 40 * DAY_MS for number in range(MOST_MOMENTS * 3)]
    assert len(of(times).counts) <= MOST_MOMENTS


@given(st.lists(st.integers(0, 5 * MINUTES_OF_A_DAY), min_size=1, max_size=60), st.integers(0, 60))
def test_of_the_last_day_nothing_is_forgotten(minutes: list[int], cut: int) -> None:
    now_ms = 4 * DAY_MS
    whole = LastDay()
    for part in (minutes[:cut], minutes[cut:]):
        times = numpy.array([minute * MINUTE_MS for minute in part], dtype=numpy.int64)
        day = LastDay()
        day.add(times, times * 0 + 5, times * 0 + 2.5, now_ms)
        whole.merge(LastDay.from_json(json.loads(json.dumps(day.to_json()))))
    past = [minute for minute in minutes if minute * MINUTE_MS <= now_ms]
    wanted = [minute for minute in past if minute > max(past) - MINUTES_OF_A_DAY]
    assert whole.minutes == {
        minute: [wanted.count(minute) * each for each in (1, 5, 2.5)] for minute in set(wanted)
    }
