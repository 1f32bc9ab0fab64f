from __future__ import annotations

from tests.bench.number import shown


def test_a_figure_has_three_digits_or_all_before_its_point() -> None:
    assert [shown(value) for value in (16_030.4, 100.4, 45.12, 0.5678, 0.0)] == [
        "16,030",
        "100",
        "45.1",
        "0.568",
        "0",
    ]
