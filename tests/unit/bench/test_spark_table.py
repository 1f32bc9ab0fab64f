"""The table of a run with Spark: medians of each source, and ratios of what ran side by side."""

from __future__ import annotations

from tests.bench.spark import table


def test_a_ratio_is_of_a_round_and_not_of_the_medians() -> None:
    seconds = {
        "read": {"ottla": [2.0, 10.0, 4.0], "kafka": [4.0, 5.0, 4.0]},
        "narrow": {"ottla": [0.5], "kafka": [2.0]},
    }
    lines = table({"read": 1_000_000, "narrow": 0}, seconds)
    assert lines[2:] == [
        "| read | 250,000 rows/s | 250,000 rows/s | 1.00 x (0.50-2.00) |",
        "| narrow | 0.50 s | 2.00 s | 4.00 x (4.00-4.00) |",
    ]
