"""WindowedRate against a list of all events, and what a throttled client achieves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from domain.security.rate import RateWindows, WindowedRate

events = st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 10_000)), min_size=1, max_size=60)
windows = st.builds(RateWindows, st.integers(2, 12), st.integers(1, 2_000))


@given(windows, events)
def test_the_rate_counts_the_windows_and_never_forgets_early(
    window: RateWindows, pauses: list[tuple[int, int]]
) -> None:
    rate = WindowedRate(window, 1.0, 0)
    seen: list[tuple[int, int]] = []
    now_ms = 0
    whole_ms = window.samples * window.window_ms
    for pause_ms, value in pauses:
        now_ms += pause_ms
        rate.record(value, now_ms)
        seen.append((now_ms, value))
        covered_ms = rate._elapsed_ms(now_ms)
        counted = rate.rate(now_ms) * covered_ms / 1000
        at_least = sum(v for at, v in seen if now_ms - at < whole_ms - window.window_ms)
        at_most = sum(v for at, v in seen if now_ms - at <= whole_ms + 2 * window.window_ms)
        assert at_least - 1e-3 <= counted <= at_most + 1e-3
        assert covered_ms >= (window.samples - 1) * window.window_ms or window.samples == 1


@given(st.integers(100, 100_000), st.floats(0.01, 1), st.integers(0, 400))
def test_a_client_that_waits_for_its_throttle_time_stays_within_its_bound(
    bound: int, share: float, work_ms: int
) -> None:
    rate = WindowedRate(RateWindows(11, 1000), bound, 0)
    now_ms, total = 0, 0.0
    size = share * bound  # requests of more than a window overshoot more, as in Kafka
    for _ in range(200):
        rate.record(size, now_ms)
        total += size
        now_ms += work_ms + rate.throttle_ms(now_ms)
    # A burst of the windows and the last request are over it, and a window in eleven is not seen.
    assert total <= 1.1 * bound * (now_ms / 1000 + 11) + size
