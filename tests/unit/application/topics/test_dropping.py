from __future__ import annotations

import pytest

from application.background.runner import LONGEST_RETRY_MS, PAUSE_MS, RETRY_MS
from application.topics.dropping import BATCHES_PER_COMMIT
from domain.errors import StorageFailed
from infrastructure.storage.memory.state_store import MemoryStateStore
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker


@pytest.fixture
def fake() -> FakeBroker:
    """A deleted topic of two partitions: one of three slices, one of one batch."""
    fake = FakeBroker()
    topic = fake.topic("t", 2)
    for _ in range(2 * BATCHES_PER_COMMIT + 1):
        fake.append(record_batch(["a"]))
    fake.append(record_batch(["a"]), index=1)
    fake.run()
    fake.broker.snapshot_all(lambda failure: None)
    fake.broker.delete_topics.delete([topic])
    fake.run()
    return fake


def left(fake: FakeBroker) -> list[int]:
    """How many batches each partition still has."""
    return [len(partition.batches) for partition in fake.store.partitions.values()]


def test_data_goes_a_slice_at_a_time_with_a_pause_after_each(fake: FakeBroker) -> None:
    assert left(fake) == [2 * BATCHES_PER_COMMIT + 1, 1]
    fake.scheduler.advance(PAUSE_MS)
    assert left(fake) == [BATCHES_PER_COMMIT + 1, 1]
    fake.scheduler.advance(PAUSE_MS)
    assert left(fake) == [1, 1]
    fake.scheduler.advance(PAUSE_MS)
    assert left(fake) == [1]
    fake.scheduler.advance(PAUSE_MS)
    assert left(fake) == []
    assert fake.scheduler.timers == []


def test_nothing_is_left_in_the_store(fake: FakeBroker) -> None:
    fake.scheduler.advance(100)
    assert fake.store.partitions == {}
    assert {table: rows for table, rows in fake.store.tables.items() if rows}.keys() == {
        "cluster",
        "counters",
    }


def test_a_restart_goes_on_where_the_last_run_stopped(fake: FakeBroker) -> None:
    fake.scheduler.advance(PAUSE_MS)
    again = fake.restarted()
    assert len(again.broker.dropping) == 0
    again.broker.dropping.start()
    again.scheduler.advance(100)
    assert again.store.partitions == {}
    assert again.store.tables["doomed"] == {}


def test_after_a_failed_commit_the_slice_is_tried_again_later(fake: FakeBroker) -> None:
    fake.commit.fail_next()
    fake.scheduler.advance(PAUSE_MS)
    assert left(fake) == [2 * BATCHES_PER_COMMIT + 1, 1]
    fake.scheduler.advance(RETRY_MS - 1)
    assert left(fake) == [2 * BATCHES_PER_COMMIT + 1, 1]
    fake.scheduler.advance(1)
    assert left(fake) == [2 * BATCHES_PER_COMMIT + 1], "the other one: this one may be ill"
    fake.scheduler.advance(100)
    assert left(fake) == []


def test_what_cannot_be_dropped_is_tried_less_and_less_often(fake: FakeBroker) -> None:
    """Each try takes along what else was in its commit."""
    tries = fake.commit.count
    for _ in range(40):
        fake.commit.fail_next()
    fake.scheduler.advance(10 * LONGEST_RETRY_MS)
    assert 8 <= fake.commit.count - tries <= 17
    fake.commit.failures.clear()
    fake.scheduler.advance(LONGEST_RETRY_MS + 100)
    assert left(fake) == []


def test_rows_that_cannot_be_read_do_not_end_the_dropping(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> list[tuple[bytes, bytes]]:
        raise StorageFailed("cannot read")

    with monkeypatch.context() as patch:
        patch.setattr(MemoryStateStore, "scan", fails)
        fake.scheduler.advance(100)
        assert fake.store.tables["doomed"] != {}
    fake.scheduler.advance(LONGEST_RETRY_MS)
    assert fake.store.tables["doomed"] == {}


def test_topics_that_are_deleted_meanwhile_get_in_line(fake: FakeBroker) -> None:
    topic = fake.topic("u")
    fake.appended(record_batch(["a"]), "u")
    fake.broker.delete_topics.delete([topic])
    fake.run()
    assert len(fake.broker.dropping) == 3
    assert len(fake.scheduler.timers) == 1
    fake.scheduler.advance(100)
    assert fake.store.partitions == {}


def test_once_it_is_stopped_the_store_is_not_touched_again(fake: FakeBroker) -> None:
    fake.scheduler.advance(PAUSE_MS)
    fake.broker.stop_upkeep()
    fake.scheduler.advance(RETRY_MS)
    assert left(fake) == [BATCHES_PER_COMMIT + 1, 1]
    assert fake.scheduler.timers == []


def test_a_topic_that_is_deleted_in_the_end_is_left_to_the_next_run(fake: FakeBroker) -> None:
    fake.broker.stop_upkeep()
    fake.broker.delete_topics.delete([fake.topic("u")])
    fake.run()
    fake.scheduler.advance(RETRY_MS)
    assert left(fake) == [2 * BATCHES_PER_COMMIT + 1, 1]
    again = fake.restarted()
    again.broker.dropping.start()
    again.scheduler.advance(100)
    assert again.store.tables["doomed"] == {}
