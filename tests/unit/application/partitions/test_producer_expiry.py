from __future__ import annotations

import pytest

from application.background.runner import PAUSE_MS, SLICE_NS
from application.partitions import producer_expiry
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


def test_what_snapshots_know_of_a_silent_producer_is_forgotten_too() -> None:
    fake = FakeBroker(
        producer_id_expiration_ms="1000", producer_id_expiration_check_interval_ms="100"
    )
    fake.topic()
    fake.broker.start_upkeep()
    now = fake.clock.now_ms()
    fake.appended(record_batch(["a"], producer_id=7, epoch=0, sequence=0, timestamp=now))
    fake.appended(record_batch(["a"], producer_id=8, epoch=0, sequence=0, timestamp=now + 900))
    fake.broker.snapshot_all(lambda failure: None)
    fake.run()
    assert len(fake.store.tables["producers"]) == 2
    again = fake.restarted()
    again.broker.start_upkeep()
    again.partition()
    again.clock.advance(1050)
    again.scheduler.advance(100 + PAUSE_MS)
    assert [key[-1] for key in fake.store.tables["producers"]] == [8]
    late = record_batch(["b"], producer_id=7, epoch=0, sequence=40, timestamp=now)
    assert again.appended(late).base_offset == 2


def test_a_producer_that_has_expired_is_not_looked_up_again() -> None:
    fake = FakeBroker(producer_id_expiration_ms="1000")
    fake.topic()
    now = fake.clock.now_ms()
    fake.appended(record_batch(["a"], producer_id=7, epoch=0, sequence=0, timestamp=now))
    fake.broker.snapshot_all(lambda failure: None)
    fake.run()
    again = fake.restarted()
    again.partition().producers.expire(now + 1)
    late = record_batch(["b"], producer_id=7, epoch=0, sequence=40, timestamp=now)
    assert again.appended(late).base_offset == 1


def test_many_producers_are_gone_through_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(producer_expiry, "ROWS_PER_COMMIT", 2)
    fake = FakeBroker(
        producer_id_expiration_ms="1000", producer_id_expiration_check_interval_ms="5000"
    )
    fake.topic("t", 3)
    fake.broker.start_upkeep()
    now = fake.clock.now_ms()
    for index in range(3):
        for producer_id in range(3):
            fake.append(
                record_batch(["a"], producer_id=producer_id, epoch=0, sequence=0, timestamp=now),
                index=index,
            )
    fake.run()
    fake.broker.snapshot_all(lambda failure: None)
    fake.run()

    def left() -> tuple[int, int]:
        in_memory = sum(len(one.producers) for one in fake.broker.catalog.loaded())
        return in_memory, len(fake.store.tables["producers"])

    seen = []
    fake.clock.look_ns = SLICE_NS
    fake.scheduler.advance(4999)
    for _ in range(10):
        fake.scheduler.advance(PAUSE_MS)
        seen.append(left())
    assert seen[:6] == [(6, 9), (3, 9), (0, 9), (0, 7), (0, 5), (0, 3)]
    assert seen[-1] == (0, 0)
    assert len(fake.scheduler.timers) == 2, "the next round, and that of committed offsets"


def rows_of_silent_producers(count: int) -> FakeBroker:
    """Snapshots hold so many producers, and all of them are due; the round is to begin."""
    fake = FakeBroker(
        producer_id_expiration_ms="1000", producer_id_expiration_check_interval_ms="5000"
    )
    fake.topic("t", count)
    fake.broker.start_upkeep()
    now = fake.clock.now_ms()
    for index in range(count):
        silent = record_batch(["a"], producer_id=index, epoch=0, sequence=0, timestamp=now)
        fake.append(silent, index=index)
    fake.run()
    fake.broker.snapshot_all(lambda failure: None)
    fake.run()
    fake.scheduler.advance(4999)
    return fake


def test_once_it_is_stopped_neither_memory_nor_the_store_is_touched_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(producer_expiry, "ROWS_PER_COMMIT", 1)
    stopped_after = []
    for passed_ms in range(0, 8 * PAUSE_MS, PAUSE_MS):
        fake = rows_of_silent_producers(3)
        fake.clock.look_ns = SLICE_NS
        fake.scheduler.advance(passed_ms)
        fake.broker.stop_upkeep()
        in_memory = [len(one.producers) for one in fake.broker.catalog.loaded()]
        rows, commits = list(fake.store.tables["producers"]), fake.commit.count
        fake.scheduler.advance(600_000)
        assert [len(one.producers) for one in fake.broker.catalog.loaded()] == in_memory
        assert list(fake.store.tables["producers"]) == rows
        assert fake.commit.count == commits
        assert fake.scheduler.timers == []
        stopped_after.append((sum(in_memory), len(rows)))
    assert {(3, 3), (1, 3), (0, 2), (0, 0)} <= set(stopped_after), stopped_after


def test_a_round_that_waits_for_a_commit_when_it_is_stopped_forgets_no_more() -> None:
    fake = rows_of_silent_producers(3)
    fake.commit.hold()
    fake.scheduler.advance(1)
    assert fake.commit.under_way
    fake.broker.stop_upkeep()
    fake.commit.let_go()
    fake.run()
    assert len(fake.store.tables["producers"]) == 3
    assert fake.store.staged == []
