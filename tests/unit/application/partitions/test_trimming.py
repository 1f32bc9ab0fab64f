from __future__ import annotations

import pytest

from application.background.runner import LONGEST_RETRY_MS, PAUSE_MS, RETRY_MS
from application.partitions.delete_records import RecordsToDelete
from application.partitions.trimming import BATCHES_PER_COMMIT
from domain.cluster.nodes import Leader
from domain.partitions.partition import UP_TO_HIGH_WATERMARK
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic

BATCHES = 2 * BATCHES_PER_COMMIT + 10


@pytest.fixture
def fake() -> FakeBroker:
    """t-0 has three slices of batches, t-1 two batches."""
    fake = with_topic(2)
    for _ in range(BATCHES):
        fake.append(record_batch(["a"]))
    for _ in range(2):
        fake.append(record_batch(["a"]), index=1)
    fake.run()
    return fake


def delete(fake: FakeBroker, offset: int = UP_TO_HIGH_WATERMARK, index: int = 0) -> None:
    fake.broker.messages.delete_records.delete([RecordsToDelete("t", index, offset)])
    fake.run()


def left(fake: FakeBroker, index: int = 0) -> int:
    stored = fake.store.partitions.get(fake.existing().partition_ids[index])
    return len(stored.batches) if stored else 0


def unfinished(fake: FakeBroker) -> int:
    return len(fake.store.tables.get("trimming", {}))


def test_records_are_removed_in_slices_with_pauses(fake: FakeBroker) -> None:
    delete(fake, BATCHES - 1)
    for count in (BATCHES, BATCHES - BATCHES_PER_COMMIT, 10, 1):
        assert left(fake) == count
        assert fake.partition().durable.size_bytes == count * len(record_batch(["a"]))
        fake.scheduler.advance(PAUSE_MS)
    assert (unfinished(fake), len(fake.broker.trimming)) == (0, 0)
    assert fake.scheduler.timers == []


def test_partitions_take_turns(fake: FakeBroker) -> None:
    delete(fake)
    delete(fake, index=1)
    fake.scheduler.advance(PAUSE_MS)
    fake.scheduler.advance(PAUSE_MS)
    assert (left(fake), left(fake, 1)) == (BATCHES - BATCHES_PER_COMMIT, 0)


def test_a_restart_continues_the_removal(fake: FakeBroker) -> None:
    delete(fake, BATCHES - 1)
    fake.scheduler.advance(PAUSE_MS)
    assert unfinished(fake) == 1

    again = fake.restarted()
    again.broker.start_upkeep()
    again.scheduler.advance(3 * PAUSE_MS)

    assert (left(again), unfinished(again)) == (1, 0)
    assert again.partition().durable.size_bytes == len(record_batch(["a"]))
    assert again.partition().end.next_offset == BATCHES


def test_a_new_leader_continues_the_removal(fake: FakeBroker) -> None:
    delete(fake, BATCHES - 1)
    partition_id = fake.existing().partition_ids[0]
    fake.placement.move(partition_id, Leader(2, 1))
    fake.scheduler.advance(3 * PAUSE_MS)
    assert (left(fake), unfinished(fake)) == (BATCHES, 1)
    fake.placement.move(partition_id, Leader(1, 2))
    fake.scheduler.advance(3 * PAUSE_MS)
    assert (left(fake), unfinished(fake)) == (1, 0)


def test_records_that_are_deleted_meanwhile_are_removed_too(fake: FakeBroker) -> None:
    delete(fake, 5)
    fake.commit.hold()
    fake.scheduler.advance(PAUSE_MS)
    fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, 9)])
    fake.commit.let_go()
    fake.run()
    assert (left(fake), unfinished(fake)) == (BATCHES - 5, 1)
    fake.scheduler.advance(2 * PAUSE_MS)
    assert (left(fake), unfinished(fake)) == (BATCHES - 9, 0)


def test_batches_can_be_appended_between_slices(fake: FakeBroker) -> None:
    delete(fake)
    for number in range(4):
        assert fake.appended(record_batch(["new"])).base_offset == BATCHES + number
        fake.scheduler.advance(PAUSE_MS)
    assert left(fake) == 4
    assert fake.stored().count(b"new") == 4


def test_a_failed_slice_is_repeated_with_growing_pauses(
    fake: FakeBroker,
) -> None:
    delete(fake)
    for _ in range(3):
        fake.commit.fail_next()
    fake.scheduler.advance(PAUSE_MS)
    assert left(fake) == BATCHES
    for wait_ms in (RETRY_MS, 2 * RETRY_MS):
        fake.scheduler.advance(wait_ms - 1)
        assert len(fake.commit.failures) > 0
        fake.scheduler.advance(1)
    assert fake.commit.failures == []
    fake.scheduler.advance(LONGEST_RETRY_MS)
    assert (left(fake), fake.partition().durable.size_bytes, unfinished(fake)) == (0, 0, 0)


def test_slices_do_not_wake_waiting_fetches(fake: FakeBroker) -> None:
    woken = []
    delete(fake)
    fake.broker.commits._purgatory.advanced = woken.append  # type: ignore[method-assign]
    fake.scheduler.advance(4 * PAUSE_MS)
    assert (left(fake), woken) == (0, [])
