from __future__ import annotations

from application.ports.clock import Clock
from infrastructure.clock import SystemClock

YEAR_2020_MS = 1_577_836_800_000


def test_the_wall_clock_counts_milliseconds_since_1970() -> None:
    clock: Clock = SystemClock()
    assert YEAR_2020_MS < clock.now_ms() < YEAR_2020_MS * 2


def test_the_monotonic_clock_does_not_go_back() -> None:
    clock: Clock = SystemClock()
    assert clock.monotonic_ms() <= clock.monotonic_ms()
