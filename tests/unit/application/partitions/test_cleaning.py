from __future__ import annotations

import pytest

from application.background.job import SLICE
from application.partitions.cleaning import Throttle
from domain.compaction.cleaner import CleanerStats
from domain.compaction.log_to_clean import log_to_clean
from tests.fakes.batches import Record, record_batch
from tests.unit.application.partitions.test_compaction import append, cleaner_of, compacting


def test_a_pass_pauses_until_its_bytes_are_allowed() -> None:
    throttle = Throttle(1000, 5000)
    assert throttle.pause_ms(CleanerStats(map_bytes_read=300), 5000) == 300
    assert throttle.pause_ms(CleanerStats(map_bytes_read=300, bytes_read=500), 5300) == 500
    stats = CleanerStats(map_bytes_read=300, bytes_read=500, bytes_written=200)
    assert throttle.pause_ms(stats, 6000) == 0


def test_after_a_wait_at_most_a_second_of_bytes_passes_at_once() -> None:
    throttle = Throttle(1000, 0)
    assert throttle.pause_ms(CleanerStats(bytes_read=1000), 60_000) == 0
    assert throttle.pause_ms(CleanerStats(bytes_read=1500), 60_000) == 500


def test_a_pass_finds_the_last_batches_of_many_producers_in_steps() -> None:
    fake = compacting()

    def append_of(producer_id: int) -> None:
        row: Record = ("a", "v", (), fake.clock.now_ms())
        fake.append(record_batch([row], producer_id=producer_id, epoch=0, sequence=0))
        fake.run()

    for producer_id in range(3):
        append_of(producer_id)
    append(fake, "a")
    job = cleaner_of(fake)._job(log_to_clean(fake.partition()))
    assert [next(job), next(job), next(job)] == [SLICE] * 3
    append_of(3)
    with pytest.raises(StopIteration) as end:
        next(job)
    assert end.value.value.plan.producers == {0: 0, 1: 1, 2: 2}
