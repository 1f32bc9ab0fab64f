from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from interfaces.rest.timestamps import MAX_TIMESTAMP, timestamp_of


@pytest.fixture(autouse=True)
def another_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The zone of the machine does not matter."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "value, milliseconds",
    [
        (0, 0),
        ("17", 17),
        (MAX_TIMESTAMP, MAX_TIMESTAMP),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T01:00:00 01:00", 0),  # in a URL a plus is a space
        ("1970-01-01T00:00:01.001", 1001),
        ("1970-01-02", 86_400_000),
    ],
)
def test_a_time_is_milliseconds_or_iso_8601_in_utc_by_default(
    value: object, milliseconds: int
) -> None:
    assert timestamp_of(value) == milliseconds


@pytest.mark.parametrize(
    "value",
    [
        "yesterday", "", "-5", -5, 2.5, True, [], MAX_TIMESTAMP + 1, "9" * 20,
        "0001-01-01T00:00:00+01:00",
    ],
)  # fmt: skip
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="milliseconds since 1970"):
        timestamp_of(value)
