from __future__ import annotations

from typing import Any

import pytest

from application.background.runner import PAUSE_MS, SLICE_NS
from application.partitions.delete_records import LowWatermark, RecordsToDelete
from application.state.catalog import Catalog
from domain.errors import OffsetOutOfRange, StorageFailed, UnknownTopicOrPartition
from domain.partitions.partition import UP_TO_HIGH_WATERMARK, Partition
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker


@pytest.fixture
def fake() -> FakeBroker:
    """Offsets 0-2, 3-4 and 5, of the first of two partitions."""
    fake = FakeBroker()
    fake.topic("t", 2)
    for values in (["a", "b", "c"], ["d", "e"], ["f"]):
        fake.appended(record_batch(values))
    return fake


def begin(fake: FakeBroker, *wanted: tuple[str, int, int]) -> list[LowWatermark]:
    """Filled when the answers are there."""
    answers: list[LowWatermark] = []

    fake.broker.messages.delete_records.delete([RecordsToDelete(*one) for one in wanted]).then(
        answers.extend
    )
    return answers


def delete(fake: FakeBroker, offset: int, index: int = 0) -> LowWatermark:
    answers = begin(fake, ("t", index, offset))
    fake.run()
    [answer] = answers
    return answer


@pytest.mark.parametrize("offset, low", [(0, 0), (1, 1), (5, 5), (6, 6), (UP_TO_HIGH_WATERMARK, 6)])
def test_a_log_starts_where_it_is_told(fake: FakeBroker, offset: int, low: int) -> None:
    assert delete(fake, offset) == low
    assert fake.partition().log_start_offset == low


def test_each_partition_has_its_own_answer(fake: FakeBroker) -> None:
    answers = begin(fake, ("t", 0, 7), ("t", 1, -1), ("t", 2, 0), ("nope", 0, 0), ("t", 0, 4))
    fake.run()
    kinds = [type(one) for one in answers]
    assert kinds == [OffsetOutOfRange, int, UnknownTopicOrPartition, UnknownTopicOrPartition, int]
    assert (answers[1], answers[4]) == (0, 4)


def test_it_is_answered_when_it_is_durable(fake: FakeBroker) -> None:
    fake.commit.hold()
    answers = begin(fake, ("t", 0, 3))
    fake.run()
    assert (answers, fake.partition().log_start_offset) == ([], 0)
    fake.commit.let_go()
    assert (answers, fake.partition().log_start_offset) == ([3], 3)


def test_who_asks_for_less_waits_for_what_is_under_way(fake: FakeBroker) -> None:
    fake.commit.hold()
    answers = begin(fake, ("t", 0, 5))
    fake.run()
    behind = begin(fake, ("t", 0, 2))
    assert (answers, behind) == ([], [])
    fake.commit.let_go()
    fake.run()
    assert (answers, behind) == ([5], [5])


def test_what_is_deleted_already_is_answered_at_once(fake: FakeBroker) -> None:
    assert delete(fake, 4) == 4
    assert begin(fake, ("t", 0, 2)) == [4]


def test_a_commit_that_fails_deletes_nothing(fake: FakeBroker) -> None:
    fake.commit.fail_next()
    assert isinstance(delete(fake, 4), StorageFailed)
    assert fake.partition().log_start_offset == 0
    fake.scheduler.advance(1000)
    assert len(fake.store.partitions[fake.partition().partition_id].batches) == 3

    assert delete(fake, 3) == 3


def test_a_commit_that_fails_compares_no_partition_with_all_others(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.topic("many", 50)
    for index in range(50):
        fake.append(record_batch(["a"]), "many", index)
    fake.run()
    compared: list[object] = []

    def same(one: Partition, other: object) -> bool:
        compared.append(other)
        return one is other

    monkeypatch.setattr(Partition, "__eq__", same)
    fake.commit.fail_next()
    answers = begin(fake, *(("many", index, 1) for index in range(50)))
    fake.run()
    assert [type(one) for one in answers] == [StorageFailed] * 50
    assert compared == []


def test_many_that_have_to_be_loaded_are_loaded_in_slices_and_move_at_once(
    fake: FakeBroker,
) -> None:
    at_once = 20
    count = 2 * at_once + 1
    fake.topic("many", count)
    for index in range(count):
        fake.append(record_batch(["a"]), "many", index)
    fake.run()
    for index in range(count):
        fake.broker.commits.touch(fake.partition("many", index))
        fake.partition("many", index).request_snapshot()
    fake.run()
    again = fake.restarted()
    before = len(again.broker.catalog.loaded())
    again.clock.look_ns = SLICE_NS // at_once

    answers = begin(again, *(("many", index, 1) for index in range(count)), ("many", count, 0))
    seen = [len(again.broker.catalog.loaded()) - before]
    while not answers:
        assert not any(one.log_start_offset for one in again.broker.catalog.loaded())
        again.scheduler.run_pass()
        seen.append(len(again.broker.catalog.loaded()) - before)

    assert seen[:3] == [at_once, 2 * at_once, count]
    assert answers[:-1] == [1] * count
    assert isinstance(answers[-1], UnknownTopicOrPartition)


def test_a_fault_is_the_requests_own(fake: FakeBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: Any) -> None:
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr(Catalog, "existing_partition", faulty)
    deleting = fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, 1)])
    assert isinstance(deleting.fault, RuntimeError)


def test_the_producers_in_a_failed_deletion_are_not_overtaken(fake: FakeBroker) -> None:
    """The snapshot that goes with it is taken with the commit, as any other."""
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
def test_a_restart_forgets_nothing_of_it(fake: FakeBroker, offset: int) -> None:
    fake.appended(record_batch(["x"], producer_id=7, epoch=0, sequence=0))
    low = delete(fake, offset)
    fake.scheduler.advance(100)

    again = fake.restarted()

    partition = again.partition()
    assert (partition.log_start_offset, partition.end.next_offset) == (low, 7)
    retried = again.appended(record_batch(["x"], producer_id=7, epoch=0, sequence=0))
    assert (retried.duplicate, retried.base_offset) == (True, 6)
    assert again.appended(record_batch(["new"])).base_offset == 7


def test_a_topic_that_is_deleted_meanwhile_takes_its_records_along(fake: FakeBroker) -> None:
    answers = begin(fake, ("t", 0, 4))
    fake.broker.topics.delete_topics.delete([fake.existing()])
    fake.run()
    assert answers == [4]
    fake.scheduler.advance(100)
    assert fake.store.partitions == {}
    left = {table for table, rows in fake.store.tables.items() if rows}
    assert left == {"cluster", "counters"}
    assert len(fake.broker.trimming) == 0


def test_a_topic_that_is_being_deleted_loses_its_records_without_a_trace(
    fake: FakeBroker,
) -> None:
    fake.commit.hold()
    fake.broker.topics.delete_topics.delete([fake.existing()])
    fake.run()
    begin(fake, ("t", 0, 4))
    fake.commit.let_go()
    fake.run()
    fake.scheduler.advance(10 * PAUSE_MS)
    left = {table for table, rows in fake.store.tables.items() if rows}
    assert left == {"cluster", "counters"}
    assert len(fake.broker.trimming) == 0
