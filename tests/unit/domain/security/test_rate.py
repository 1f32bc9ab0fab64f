"""Expected values are those of Kafka's formulas, worked out by hand."""

from __future__ import annotations

from domain.security.rate import RateWindows, TokenBucket, WindowedRate

WINDOWS = RateWindows(11, 1000)


def test_the_first_second_counts_as_ten() -> None:
    rate = WindowedRate(WINDOWS, 100, 5_000)
    rate.record(1_000, 5_000)
    assert rate.rate(5_000) == 100
    assert rate.throttle_ms(5_000) == 0
    rate.record(1, 5_000)
    assert rate.throttle_ms(5_000) == 10  # 0.1 over 100, of ten seconds


def test_the_throttle_time_shrinks_as_time_passes() -> None:
    rate = WindowedRate(WINDOWS, 100, 0)
    rate.record(2_000, 0)
    assert rate.throttle_ms(0) == 10_000
    assert rate.throttle_ms(1_000) == 10_000  # still ten windows
    assert rate.throttle_ms(10_500) == 9_500
    assert rate.throttle_ms(11_000) == 0  # expired


def test_a_rate_at_its_bound_is_never_throttled() -> None:
    rate = WindowedRate(WINDOWS, 101, 0)  # the newest event is one too many
    for now_ms in range(0, 60_000, 100):
        rate.record(10, now_ms)
        assert rate.throttle_ms(now_ms) == 0
    assert 99 < rate.rate(60_000) <= 101


def test_what_is_taken_back_does_not_count() -> None:
    rate = WindowedRate(WINDOWS, 100, 0)
    rate.record(1_000, 0)
    rate.record(5_000, 10)
    assert rate.throttle_ms(10)
    rate.record(-5_000, 10)
    assert rate.throttle_ms(10) == 0


def test_a_new_bound_applies_to_what_was_counted() -> None:
    rate = WindowedRate(WINDOWS, 100, 0)
    rate.record(1_000, 0)
    rate.bound = 50
    assert rate.throttle_ms(0) == 10_000
    assert rate.most_in_windows == 500


def test_a_clock_that_stands_still_divides_by_a_millisecond() -> None:
    rate = WindowedRate(RateWindows(1, 1000), 100, 0)
    rate.record(1, 0)
    assert rate.rate(0) == 1_000


def test_a_bucket_accepts_a_burst_of_all_windows() -> None:
    bucket = TokenBucket(WINDOWS, 2, 0)
    bucket.record(22, 0)
    assert bucket.throttle_ms(0) == 0
    bucket.record(3, 0)
    assert bucket.throttle_ms(0) == 1_500
    assert bucket.throttle_ms(1_000) == 500
    assert bucket.throttle_ms(1_500) == 0
    assert bucket.rate(3_600_000) == 22


def test_a_throttle_time_fits_an_int() -> None:
    rate = WindowedRate(WINDOWS, 1e-9, 0)
    rate.record(1, 0)
    assert rate.throttle_ms(0) == 2**31 - 1
