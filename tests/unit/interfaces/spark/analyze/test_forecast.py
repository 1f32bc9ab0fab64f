"""The forecast of a topic's size, by its last day; sizes and times as text."""

from __future__ import annotations

import argparse

import pytest

from interfaces.spark.arguments.analyze import size
from interfaces.spark.jobs.analyze.forecast import DAY_MS, end_of, full_on, per_day, rate_of
from interfaces.spark.jobs.analyze.lines import reckoned_from
from interfaces.spark.jobs.analyze.result import moment

#: 2024-01-11 00:00 UTC.
NOW_MS = 1_704_931_200_000
HOUR_MS = 3_600_000


@pytest.mark.parametrize(
    ("oldest_ms", "records_per_day", "bytes_per_day"),
    [
        (NOW_MS - 9 * DAY_MS, 48, 240),
        (NOW_MS - HOUR_MS, 24 * 48, 24 * 240),
        (NOW_MS - 59_999, None, None),
        (NOW_MS, None, None),
        (NOW_MS + DAY_MS, None, None),
        (None, None, None),
    ],
)
def test_a_rate_per_day_is_that_of_the_last_day_or_of_the_time_since_the_first_record(
    oldest_ms: int | None, records_per_day: int | None, bytes_per_day: int | None
) -> None:
    rate = rate_of(48, 240, oldest_ms, NOW_MS)
    found = rate and (rate.records_per_day, rate.bytes_per_day)
    assert found == (records_per_day and (records_per_day, bytes_per_day))


def test_the_last_day_ends_with_the_newest_record_and_never_after_now() -> None:
    assert end_of([NOW_MS - 5, None, NOW_MS - 9], NOW_MS) == NOW_MS - 5
    assert end_of([NOW_MS + DAY_MS, NOW_MS - 9], NOW_MS) == NOW_MS
    assert end_of([None], NOW_MS) == NOW_MS


def test_the_size_of_some_days() -> None:
    assert per_day(10.4) == {
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
def test_the_day_on_which_a_disk_is_full(
    disk: int, used: int, per_day: float, expected: str | None
) -> None:
    assert full_on(disk, used, per_day, NOW_MS) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("123", 123), ("5B", 5), ("500GB", 500 * 10**9), ("1.5 k", 1500), ("2TiB", 2 * 2**40),
     ("1gib", 2**30)],
)  # fmt: skip
def test_sizes(text: str, expected: int) -> None:
    assert size(text) == expected


@pytest.mark.parametrize("text", ["", "many", "5X", "-1GB", "0", "1.2.3", "0.1B", "iB", "5ib"])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        size(text)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, ""),
        (86_400.0, ""),
        (86_000.0, "reckoned from 23 hours"),
        (3_600.0, "reckoned from 1 hour"),
        (430.0, "reckoned from 7 minutes"),
        (60.0, "reckoned from 1 minute"),
    ],
)
def test_a_rate_of_less_than_a_day_has_its_duration(seconds: float | None, expected: str) -> None:
    assert reckoned_from(seconds) == expected


def test_a_timestamp_beyond_the_year_9999_is_a_number() -> None:
    assert moment(NOW_MS) == "2024-01-11T00:00:00.000+00:00"
    assert moment(2**52) == f"{2**52} ms"
