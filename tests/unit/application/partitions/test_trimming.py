from __future__ import annotations

import pytest

from application.background.runner import LONGEST_RETRY_MS, PAUSE_MS, RETRY_MS
from application.partitions.delete_records import RecordsToDelete
from application.partitions.trimming import BATCHES_PER_COMMIT
from domain.cluster.nodes import Leader
from domain.partitions.partition import UP_TO_HIGH_WATERMARK
from domain.partitions.transactions import AbortedTransaction
from domain.streams.chunk import Chunk
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


# ---- the log responds later


@pytest.fixture
def waiting(fake: FakeBroker) -> FakeBroker:
    """Trimming waits for the log, and rows of both indexes are to be removed, too."""
    partition_id = fake.existing().partition_ids[0]
    partition = fake.partition()
    for offset in (1, 2):
        fake.core.transaction_index.add(partition_id, AbortedTransaction(7, 0, offset, 0))
        fake.core.stream_index.add(partition_id, Chunk(10 * offset, offset, (6,)))
    partition.transactions.last_aborted_offset = 2
    delete(fake, BATCHES - 1)
    fake.log.wait_in("trim")
    fake.scheduler.advance(PAUSE_MS)
    assert left(fake) == BATCHES
    return fake


def rows_of_indexes(fake: FakeBroker) -> tuple[int, int]:
    return len(fake.store.tables["aborted"]), len(fake.store.tables["positions"])


def test_a_slice_that_waits_has_staged_nothing(waiting: FakeBroker) -> None:
    assert (waiting.store.staged, rows_of_indexes(waiting)) == ([], (2, 2))
    commits = waiting.commit.count
    waiting.log.load()
    waiting.scheduler.advance(3 * PAUSE_MS)
    assert (left(waiting), unfinished(waiting), waiting.commit.count) == (1, 0, commits + 3)
    assert waiting.partition().durable.size_bytes == len(record_batch(["a"]))
    assert rows_of_indexes(waiting) == (0, 1), "the newest chunk stays"


def test_the_log_start_may_move_during_a_wait(waiting: FakeBroker) -> None:
    waiting.broker.messages.delete_records.delete([RecordsToDelete("t", 0, BATCHES)])
    waiting.run()
    waiting.log.load()
    waiting.scheduler.advance(3 * PAUSE_MS)
    assert (left(waiting), unfinished(waiting)) == (0, 0)


def test_another_leader_trims_a_partition_that_moves_during_a_wait(waiting: FakeBroker) -> None:
    partition_id = waiting.existing().partition_ids[0]
    waiting.placement.move(partition_id, Leader(2, 1))
    waiting.log.load()
    waiting.scheduler.advance(3 * PAUSE_MS)
    assert (left(waiting), unfinished(waiting), len(waiting.broker.trimming)) == (BATCHES, 1, 0)


def test_a_topic_may_be_deleted_during_a_wait(waiting: FakeBroker) -> None:
    waiting.broker.topics.delete_topics.delete([waiting.existing()])
    waiting.scheduler.advance(LONGEST_RETRY_MS)
    assert waiting.store.partitions == {}
    waiting.log.load()
    waiting.scheduler.advance(PAUSE_MS)
    assert (waiting.store.partitions, len(waiting.broker.trimming)) == ({}, 0)
    assert unfinished(waiting) == 0


def test_a_partition_that_is_not_in_memory_is_awaited(fake: FakeBroker) -> None:
    delete(fake, BATCHES - 1)
    again = fake.restarted()
    again.log.wait_in("headers")
    again.broker.trimming.start()
    again.scheduler.advance(PAUSE_MS)
    assert left(again) == BATCHES
    again.log.load()
    again.scheduler.advance(3 * PAUSE_MS)
    assert (left(again), unfinished(again)) == (1, 0)
