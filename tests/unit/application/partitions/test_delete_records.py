from __future__ import annotations

from typing import Any

import pytest

from application.background.runner import PAUSE_MS, SLICE_NS
from application.partitions.delete_records import LowWatermark, RecordsToDelete
from application.state.catalog import Catalog
from domain.errors import StorageFailed, UnknownTopicOrPartition
from domain.partitions.partition import UP_TO_HIGH_WATERMARK, Partition
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic


@pytest.fixture
def fake() -> FakeBroker:
    """Batches of offsets 0-2, 3-4 and 5 in t-0; t-1 is empty."""
    fake = with_topic(2)
    for values in (["a", "b", "c"], ["d", "e"], ["f"]):
        fake.appended(record_batch(values))
    return fake


def begin(fake: FakeBroker, *requests: tuple[str, int, int]) -> list[LowWatermark]:
    """Filled when the results are there."""
    results: list[LowWatermark] = []
    fake.broker.messages.delete_records.delete([RecordsToDelete(*one) for one in requests]).then(
        results.extend
    )
    return results


def delete(fake: FakeBroker, offset: int, index: int = 0) -> LowWatermark:
    results = begin(fake, ("t", index, offset))
    fake.run()
    [result] = results
    return result


def many(fake: FakeBroker, count: int) -> None:
    """A topic with one record in each partition."""
    fake.topic("many", count)
    for index in range(count):
        fake.append(record_batch(["a"]), "many", index)
    fake.run()


def check_nothing_stored(fake: FakeBroker) -> None:
    tables = {table for table, rows in fake.store.tables.items() if rows}
    assert tables == {"cluster", "counters"}
    assert len(fake.broker.trimming) == 0


def test_the_log_start_moves_with_the_commit(fake: FakeBroker) -> None:
    fake.commit.hold()
    results = begin(fake, ("t", 0, 5))
    fake.run()
    later = begin(fake, ("t", 0, 2))
    assert (results, later, fake.partition().log_start_offset) == ([], [], 0)
    fake.commit.let_go()
    fake.run()
    assert (results, later, fake.partition().log_start_offset) == ([5], [5], 5)
    assert begin(fake, ("t", 0, 2)) == [5]


def test_a_failed_commit_deletes_nothing(fake: FakeBroker) -> None:
    fake.commit.fail_next()
    assert isinstance(delete(fake, 4), StorageFailed)
    assert fake.partition().log_start_offset == 0
    fake.scheduler.advance(1000)
    assert len(fake.store.partitions[fake.partition().partition_id].batches) == 3

    assert delete(fake, 3) == 3


def test_a_failed_commit_takes_linear_time(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(fake, 50)
    compared: list[object] = []

    def same(one: Partition, other: object) -> bool:
        compared.append(other)
        return one is other

    monkeypatch.setattr(Partition, "__eq__", same)
    fake.commit.fail_next()
    results = begin(fake, *(("many", index, 1) for index in range(50)))
    fake.run()
    assert [type(one) for one in results] == [StorageFailed] * 50
    assert compared == []


def test_many_partitions_are_loaded_in_slices_and_deleted_together(
    fake: FakeBroker,
) -> None:
    at_once = 20
    count = 2 * at_once + 1
    many(fake, count)
    for index in range(count):
        fake.broker.commits.touch(fake.partition("many", index))
        fake.partition("many", index).request_snapshot()
    fake.run()
    again = fake.restarted()
    before = len(again.broker.catalog.loaded())
    again.clock.look_ns = SLICE_NS // at_once

    results = begin(again, *(("many", index, 1) for index in range(count)), ("many", count, 0))
    seen = [len(again.broker.catalog.loaded()) - before]
    while not results:
        assert not any(one.log_start_offset for one in again.broker.catalog.loaded())
        again.scheduler.run_pass()
        seen.append(len(again.broker.catalog.loaded()) - before)

    assert seen[:3] == [at_once, 2 * at_once, count]
    assert results[:-1] == [1] * count
    assert isinstance(results[-1], UnknownTopicOrPartition)


def test_a_fault_fails_its_own_request(fake: FakeBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Catalog, "existing_partition", faulty)
    deleting = fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, 1)])
    assert isinstance(deleting.fault, RuntimeError)


def test_a_failed_deletion_does_not_break_the_order_of_producers(fake: FakeBroker) -> None:
    """The snapshot of the deletion is part of the same commit."""
    first = record_batch(["x"], producer_id=7, epoch=0, sequence=0)
    fake.commit.hold()
    fake.append(first)
    fake.run()
    begin(fake, ("t", 0, 1))
    fake.commit.let_fail()
    fake.run()
    later = fake.append(record_batch(["y"], producer_id=7, epoch=0, sequence=1))
    assert type(later).__name__ == "OutOfOrderSequence"


@pytest.mark.parametrize("offset", [1, 4, UP_TO_HIGH_WATERMARK])
def test_a_deletion_survives_a_restart(fake: FakeBroker, offset: int) -> None:
    fake.appended(record_batch(["x"], producer_id=7, epoch=0, sequence=0))
    low = delete(fake, offset)
    fake.scheduler.advance(100)

    again = fake.restarted()

    partition = again.partition()
    assert (partition.log_start_offset, partition.end.next_offset) == (low, 7)
    retried = again.appended(record_batch(["x"], producer_id=7, epoch=0, sequence=0))
    assert (retried.duplicate, retried.base_offset) == (True, 6)
    assert again.appended(record_batch(["new"])).base_offset == 7


def test_a_topic_that_is_deleted_meanwhile_is_deleted_whole(fake: FakeBroker) -> None:
    results = begin(fake, ("t", 0, 4))
    fake.broker.topics.delete_topics.delete([fake.existing()])
    fake.run()
    assert results == [4]
    fake.scheduler.advance(100)
    assert fake.store.partitions == {}
    check_nothing_stored(fake)


def test_a_deletion_in_a_topic_that_is_being_deleted_leaves_no_rows(
    fake: FakeBroker,
) -> None:
    fake.commit.hold()
    fake.broker.topics.delete_topics.delete([fake.existing()])
    fake.run()
    begin(fake, ("t", 0, 4))
    fake.commit.let_go()
    fake.run()
    fake.scheduler.advance(10 * PAUSE_MS)
    check_nothing_stored(fake)
