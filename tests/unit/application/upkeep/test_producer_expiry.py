from __future__ import annotations

from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker


def test_a_producer_that_was_silent_for_too_long_is_forgotten() -> None:
    fake = FakeBroker(
        producer_id_expiration_ms="1000", producer_id_expiration_check_interval_ms="100"
    )
    fake.topic()
    fake.broker.start_upkeep()
    now = fake.clock.now_ms()
    fake.appended(record_batch(["a"], producer_id=7, epoch=0, sequence=0, timestamp=now))
    fake.scheduler.advance(900)
    assert len(fake.partition().producers) == 1
    fake.scheduler.advance(300)
    assert len(fake.partition().producers) == 0
    # Nothing is known of it now, so it may go on anywhere.
    late = record_batch(["b"], producer_id=7, epoch=0, sequence=40, timestamp=fake.clock.now_ms())
    assert fake.appended(late).base_offset == 1


def test_a_producer_that_appends_is_kept() -> None:
    fake = FakeBroker(
        producer_id_expiration_ms="1000", producer_id_expiration_check_interval_ms="100"
    )
    fake.topic()
    fake.broker.start_upkeep()
    for sequence in range(5):
        now = fake.clock.now_ms()
        fake.appended(record_batch(["a"], producer_id=7, epoch=0, sequence=sequence, timestamp=now))
        fake.scheduler.advance(600)
    assert len(fake.partition().producers) == 1
