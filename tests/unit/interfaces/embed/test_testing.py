from __future__ import annotations

import pytest

from interfaces.embed.testing import Duration, milliseconds


@pytest.mark.parametrize(
    "duration, expected",
    [(1.5, 1500), (0, 0), ("200ms", 200), ("10m", 600_000), ("1d2h", 93_600_000)],
)
def test_a_duration_is_seconds_or_text_with_units(duration: Duration, expected: int) -> None:
    assert milliseconds(duration) == expected


@pytest.mark.parametrize("duration", ["", "10", "10 m", "-1s", "1x", "10mm"])
def test_other_text_is_no_duration(duration: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        milliseconds(duration)
