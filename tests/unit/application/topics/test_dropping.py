from __future__ import annotations

import pytest

from application.background.runner import LONGEST_RETRY_MS, PAUSE_MS, RETRY_MS
from application.topics.dropping import BATCHES_PER_COMMIT
from domain.cluster.nodes import Leader
from domain.errors import StorageFailed
from infrastructure.storage.memory.state_store import MemoryStateStore
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, FlakyLogStore
from tests.fakes.following_brokers import FollowingBrokers


@pytest.fixture
def fake() -> FakeBroker:
    """A deleted topic: t-0 has three slices of batches, t-1 one batch."""
    fake = FakeBroker()
    topic = fake.topic("t", 2)
    for _ in range(2 * BATCHES_PER_COMMIT + 1):
        fake.append(record_batch(["a"]))
    fake.append(record_batch(["a"]), index=1)
    fake.run()
    fake.broker.snapshot_all(lambda failure: None)
    fake.broker.topics.delete_topics.delete([topic])
    fake.run()
    return fake


def left(fake: FakeBroker) -> list[int]:
    """The number of batches of each partition."""
    return [len(partition.batches) for partition in fake.store.partitions.values()]


def check_all_dropped(fake: FakeBroker) -> None:
    fake.scheduler.advance(100)
    assert fake.store.partitions == {}
    tables = {table for table, rows in fake.store.tables.items() if rows}
    assert tables == {"cluster", "counters"}
    assert len(fake.broker.dropping) == 0


def test_data_is_deleted_in_slices_with_pauses(fake: FakeBroker) -> None:
    many = 2 * BATCHES_PER_COMMIT + 1
    for batches in ([many, 1], [many - BATCHES_PER_COMMIT, 1], [1, 1], [1], []):
        assert left(fake) == batches
        fake.scheduler.advance(PAUSE_MS)
    assert fake.scheduler.timers == []
    check_all_dropped(fake)


def test_a_restart_continues_the_deletion(fake: FakeBroker) -> None:
    fake.scheduler.advance(PAUSE_MS)
    again = fake.restarted()
    assert len(again.broker.dropping) == 0
    again.broker.dropping.start()
    check_all_dropped(again)


def test_a_failed_slice_is_repeated_later(fake: FakeBroker) -> None:
    fake.commit.fail_next()
    fake.scheduler.advance(PAUSE_MS)
    assert left(fake) == [2 * BATCHES_PER_COMMIT + 1, 1]
    fake.scheduler.advance(RETRY_MS - 1)
    assert left(fake) == [2 * BATCHES_PER_COMMIT + 1, 1]
    fake.scheduler.advance(1)
    assert left(fake) == [2 * BATCHES_PER_COMMIT + 1], "the other partition first"
    fake.scheduler.advance(100)
    assert left(fake) == []


def test_repeated_failures_are_repeated_with_growing_pauses(fake: FakeBroker) -> None:
    """Each failure also fails the other changes of its commit."""
    tries = fake.commit.count
    for _ in range(40):
        fake.commit.fail_next()
    fake.scheduler.advance(10 * LONGEST_RETRY_MS)
    assert 8 <= fake.commit.count - tries <= 17
    fake.commit.failures.clear()
    fake.scheduler.advance(LONGEST_RETRY_MS + 100)
    assert left(fake) == []


def test_unreadable_rows_do_not_end_the_deletion(
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


def test_topics_that_are_deleted_meanwhile_are_queued(fake: FakeBroker) -> None:
    topic = fake.topic("u")
    fake.appended(record_batch(["a"]), "u")
    fake.broker.topics.delete_topics.delete([topic])
    fake.run()
    assert len(fake.broker.dropping) == 3
    assert len(fake.scheduler.timers) == 1
    check_all_dropped(fake)


def test_after_the_stop_no_data_is_deleted(fake: FakeBroker) -> None:
    fake.scheduler.advance(PAUSE_MS)
    fake.broker.stop_upkeep()
    fake.scheduler.advance(RETRY_MS)
    assert left(fake) == [BATCHES_PER_COMMIT + 1, 1]
    assert fake.scheduler.timers == []


def test_a_topic_that_is_deleted_after_the_stop_is_left_to_the_next_start(fake: FakeBroker) -> None:
    fake.broker.stop_upkeep()
    fake.broker.topics.delete_topics.delete([fake.topic("u")])
    fake.run()
    fake.scheduler.advance(RETRY_MS)
    assert left(fake) == [2 * BATCHES_PER_COMMIT + 1, 1]
    again = fake.restarted()
    again.broker.dropping.start()
    check_all_dropped(again)


def test_a_slice_waits_for_the_log(fake: FakeBroker) -> None:
    fake.log.wait_in("drop")
    fake.scheduler.advance(PAUSE_MS)
    assert (left(fake), fake.store.staged) == ([2 * BATCHES_PER_COMMIT + 1, 1], [])
    other = fake.topic("u")
    fake.appended(record_batch(["a"]), "u")
    fake.broker.topics.delete_topics.delete([other])
    fake.scheduler.advance(RETRY_MS)
    assert left(fake) == [2 * BATCHES_PER_COMMIT + 1, 1, 1]
    fake.log.load()
    check_all_dropped(fake)


def test_marks_of_dropped_partitions_go_together_with_the_right(fake: FakeBroker) -> None:
    fake.changes.withhold()
    fake.scheduler.advance(RETRY_MS)
    assert left(fake) == []
    assert (len(fake.store.tables["doomed"]), fake.changes.waiting) == (2, 1)
    fake.changes.give()
    check_all_dropped(fake)


def deleted(two: FollowingBrokers) -> tuple[int, ...]:
    """The ids of two partitions; the second broker leads the second one."""
    topic = two.first.topic("t", 2)
    two.run()
    two.move(topic.partition_ids[1], Leader(2, 1))
    two.first.appended(record_batch(["a"]))
    two.second.appended(record_batch(["a"]), index=1)
    two.first.broker.topics.delete_topics.delete([topic])
    return topic.partition_ids


def test_the_leader_of_a_partition_drops_its_data() -> None:
    two = FollowingBrokers()
    _, of_second = deleted(two)
    two.run()
    two.first.scheduler.advance(RETRY_MS)
    assert set(two.store.partitions) == {of_second}
    assert len(two.store.tables["doomed"]) == 1
    two.advance(RETRY_MS)
    assert (two.store.partitions, two.store.tables["doomed"]) == ({}, {})


def test_a_new_leader_drops_what_the_last_one_has_not() -> None:
    two = FollowingBrokers()
    _, of_second = deleted(two)
    two.run()
    two.move(of_second, Leader(1, 2))
    assert len(two.second.broker.dropping) == 1
    two.second.scheduler.advance(RETRY_MS)
    assert of_second in two.store.partitions
    assert len(two.second.broker.dropping) == 0
    two.advance(RETRY_MS)
    assert (two.store.partitions, two.store.tables["doomed"]) == ({}, {})


def test_a_start_continues_what_this_node_leads() -> None:
    two = FollowingBrokers()
    deleted(two)
    two.first.run()
    two.second.broker.dropping.start()
    assert len(two.second.broker.dropping) == 1


def test_a_damaged_partition_does_not_keep_the_marks_of_others(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = min(fake.store.partitions)
    drop = FlakyLogStore.drop

    def flaky(self: FlakyLogStore, partition_id: int, max_batches: int) -> bool:
        if partition_id == damaged:
            raise StorageFailed("cannot read")
        return drop(self, partition_id, max_batches)

    with monkeypatch.context() as patch:
        patch.setattr(FlakyLogStore, "drop", flaky)
        fake.scheduler.advance(10 * RETRY_MS)
        assert len(fake.store.tables["doomed"]) == 1
    fake.scheduler.advance(LONGEST_RETRY_MS)
    check_all_dropped(fake)
