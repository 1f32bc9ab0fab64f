from __future__ import annotations

from application.partitions.cleaning import Throttle
from domain.compaction.cleaner import CleanerStats


def test_a_pass_pauses_until_its_bytes_are_allowed() -> None:
    throttle = Throttle(1000, 5000)
    assert throttle.pause_ms(CleanerStats(map_bytes_read=300), 5000) == 300
    assert throttle.pause_ms(CleanerStats(map_bytes_read=300, bytes_read=500), 5300) == 500
    stats = CleanerStats(map_bytes_read=300, bytes_read=500, bytes_written=200)
    assert throttle.pause_ms(stats, 6000) == 0


def test_after_a_wait_at_most_a_second_of_bytes_passes_at_once() -> None:
    throttle = Throttle(1000, 0)
    assert throttle.pause_ms(CleanerStats(bytes_read=1000), 60_000) == 0
    assert throttle.pause_ms(CleanerStats(bytes_read=3000), 60_000) == 2000
