"""The room that a topic will need, as its last day has it."""

from __future__ import annotations

import argparse

import pytest

from interfaces.spark.arguments.analyze import size
from interfaces.spark.jobs.analyze.forecast import DAY_MS, end_of, full_on, rate_of, told
from interfaces.spark.jobs.analyze.lines import reckoned_from
from interfaces.spark.jobs.analyze.over_time import MINUTE_MS, LastDay

#: 2024-01-11 00:00 UTC.
NOW_MS = 1_704_931_200_000
HOUR_MS = 60 * MINUTE_MS


def day_of(*minutes: tuple[int, float, float, float]) -> LastDay:
    """(time, records, bytes, stored)."""
    return LastDay.from_json({str(at // MINUTE_MS): counts for at, *counts in minutes})


def test_a_topic_that_is_older_than_a_day_is_judged_by_its_last_one() -> None:
    day = day_of((NOW_MS - 25 * HOUR_MS, 1000, 1000, 1000), (NOW_MS - HOUR_MS, 48, 240, 24))
    rate = rate_of(day, NOW_MS - 9 * DAY_MS, NOW_MS, of_store=True)
    assert rate is not None
    assert rate.span_ms == DAY_MS - MINUTE_MS
    assert rate.bytes_per_day == pytest.approx(24, rel=0.001)
    assert rate.records_per_day == pytest.approx(48, rel=0.001)
    of_records = rate_of(day, NOW_MS - 9 * DAY_MS, NOW_MS, of_store=False)
    assert of_records is not None
    assert of_records.bytes_per_day == pytest.approx(240, rel=0.001)


def test_a_younger_one_by_what_there_is() -> None:
    day = day_of((NOW_MS - HOUR_MS, 5, 50, 50), (NOW_MS, 5, 50, 50))
    rate = rate_of(day, NOW_MS - HOUR_MS, NOW_MS, of_store=True)
    assert rate is not None
    assert rate.bytes_per_day == 24 * 100


def test_one_that_was_silent_for_a_day_needs_nothing() -> None:
    day = day_of((NOW_MS - 3 * DAY_MS, 5, 50, 50))
    rate = rate_of(day, NOW_MS - 3 * DAY_MS, NOW_MS, of_store=True)
    assert rate is not None
    assert rate.bytes_per_day == 0


def test_nothing_is_told_from_no_time_at_all() -> None:
    assert rate_of(LastDay(), None, NOW_MS, of_store=True) is None
    assert rate_of(day_of((NOW_MS, 5, 50, 50)), NOW_MS, NOW_MS, of_store=True) is None
    assert rate_of(day_of((NOW_MS, 5, 50, 50)), NOW_MS - 59_999, NOW_MS, of_store=True) is None
    assert rate_of(LastDay(), NOW_MS + DAY_MS, NOW_MS, of_store=True) is None


def test_the_last_day_ends_with_the_newest_record_and_never_after_now() -> None:
    assert end_of([NOW_MS - 5, None, NOW_MS - 9], NOW_MS) == NOW_MS - 5
    assert end_of([NOW_MS + DAY_MS, NOW_MS - 9], NOW_MS) == NOW_MS
    assert end_of([None], NOW_MS) == NOW_MS


def test_what_is_kept_of_some_days() -> None:
    assert told(10.4) == {
        "bytes_per_day": 10,
        "bytes_kept": {"1_days": 10, "7_days": 73, "30_days": 312},
    }


@pytest.mark.parametrize(
    ("disk", "used", "per_day", "expected"),
    [
        (100, 0, 10, "2024-01-21"),
        (100, 95, 10, "2024-01-11"),
        (100, 100, 10, "2024-01-11"),
        (100, 500, 0, "2024-01-11"),
        (100, 0, 0, None),
        (10**15, 0, 1, None),
    ],
)
def test_when_a_disk_is_full(disk: int, used: int, per_day: float, expected: str | None) -> None:
    assert full_on(disk, used, per_day, NOW_MS) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("123", 123),
        ("5B", 5),
        ("500GB", 500 * 10**9),
        ("1.5 k", 1500),
        ("2TiB", 2 * 2**40),
        ("1gib", 2**30),
    ],
)
def test_sizes(text: str, expected: int) -> None:
    assert size(text) == expected


@pytest.mark.parametrize("text", ["", "many", "5X", "-1GB", "0", "1.2.3", "0.1B", "iB", "5ib"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        size(text)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, ""),
        (86_345.0, ""),
        (86_000.0, "reckoned from 23 hours"),
        (3_600.0, "reckoned from 1 hour"),
        (430.0, "reckoned from 7 minutes"),
        (60.0, "reckoned from 1 minute"),
    ],
)
def test_what_is_reckoned_from_less_than_a_day_says_so(
    seconds: float | None, expected: str
) -> None:
    assert reckoned_from(seconds) == expected
