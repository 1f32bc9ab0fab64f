"""Values of options."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable

import pytest

from interfaces.cli.arguments.common import seconds as up_to_a_day
from interfaces.terminal.durations import in_words, milliseconds
from interfaces.terminal.values import at_least_one, key_value, not_negative, seconds


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("500ms", 500),
        ("30s", 30_000),
        ("1.5m", 90_000),
        (".5 min", 30_000),
        ("1 H", 3_600_000),
        ("7d", 604_800_000),
        (" 20 ", 20),
    ],
)
def test_durations_are_read(text: str, found: float) -> None:
    assert milliseconds(text, "ms") == found


def test_durations_are_written_in_two_units() -> None:
    assert [in_words(ms) for ms in (0, 5, 61_000, 604_800_000, 5_400_123)] == [
        "0ms", "5ms", "1m 1s", "7d", "1h 30m",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "s", "-1s", "1x", "1e3", "nan", "inf", "9" * 400, "1s 2s"])
def test_a_wrong_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="500ms"):
        milliseconds(text, "s")


def test_a_number_without_a_unit_needs_a_default_unit() -> None:
    with pytest.raises(ValueError, match="500ms"):
        milliseconds("20")


@pytest.mark.parametrize(
    ("read", "text", "found"),
    [
        (key_value, " a = b=c", ("a", " b=c")),
        (at_least_one, "1", 1),
        (not_negative, "0", 0),
        (seconds, "0.5", 0.5),
        (seconds, "3d", 259_200),
        (up_to_a_day, "1m", 60),
    ],
)
def test_values_are_read(read: Callable[[str], object], text: str, found: object) -> None:
    assert read(text) == found


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (key_value, "a"),
        (key_value, " =b"),
        (at_least_one, "0"),
        (at_least_one, "x"),
        (not_negative, "-1"),
        (seconds, "soon"),
        (seconds, "0ms"),
        (up_to_a_day, "25h"),
    ],
)
def test_a_wrong_value_is_named(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(ArgumentTypeError, match=text):
        read(text)
