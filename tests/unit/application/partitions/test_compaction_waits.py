"""Logs that are compacted later: records are young, the disk is full, or a read waits."""

from __future__ import annotations

import pytest

from application.partitions.delete_records import RecordsToDelete
from domain.cluster.nodes import Leader
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker
from tests.unit.application.partitions.test_compaction import (
    BACKOFF_MS,
    append,
    compact,
    compacting,
    passes,
    records,
)


@pytest.mark.parametrize(("age_ms", "offsets"), [(0, [0, 1, 2, 3, 4]), (60_000, [3, 4])])
def test_records_without_a_timestamp_are_as_old_as_the_next_one(
    age_ms: int, offsets: list[int]
) -> None:
    fake = compacting(min_compaction_lag_ms="60000")
    for _ in range(3):
        fake.append(record_batch([("a", "v", (), -1)]))
    append(fake, *"aa")
    fake.clock.advance(age_ms)
    compact(fake)
    assert [offset for offset, _ in records(fake)] == offsets


def test_after_a_failed_commit_no_log_is_compacted_until_the_next_look() -> None:
    fake = compacting()
    fake.topic("u", cleanup_policy="compact", segment_ms="1")
    for name in ("t", "u"):
        append(fake, *"aaaa", name=name)
    fake.commit.fail_next()
    compact(fake)
    fake.scheduler.advance(BACKOFF_MS - 2000)
    assert (len(records(fake)), len(records(fake, "u"))) == (4, 4)
    compact(fake)
    assert (len(records(fake)), len(records(fake, "u"))) == (2, 2)


# ---- the log responds later


def test_the_age_of_records_waits_for_the_timestamp_index() -> None:
    fake = compacting(min_compaction_lag_ms="60000")
    append(fake, *"aaaa")
    fake.scheduler.advance(50_000)
    append(fake, *"aaaa")
    fake.log.wait_in("at_timestamp")
    fake.scheduler.advance(25_000)
    assert len(records(fake)) == 8
    fake.log.load()
    compact(fake)  # the look that has waited is of an earlier time
    assert [offset for offset, _ in records(fake)] == [3, 4, 5, 6, 7]


def test_a_topic_may_be_deleted_while_the_age_of_its_records_is_read() -> None:
    fake = compacting(min_compaction_lag_ms="1000")
    append(fake, *"aaaa")
    fake.log.wait_in("at_timestamp")
    compact(fake)
    check_deleted_meanwhile(fake)


@pytest.mark.parametrize("call", ["copy_before", "replace"])
def test_a_pass_waits_for_the_log(call: str) -> None:
    fake = compacting()
    append(fake, *"abcaba")
    fake.log.wait_in(call)
    compact(fake)
    assert (len(records(fake)), fake.store.staged) == (6, [])
    fake.log.load()
    fake.scheduler.advance(1000)
    assert records(fake) == [(2, "c"), (3, "a"), (4, "b"), (5, "a")]
    assert fake.partition().durable.size_bytes == len(fake.stored())
    assert passes(fake) == [(0, 2)]


def test_the_end_of_a_pass_waits_for_the_log() -> None:
    fake = compacting()
    append(fake, *"ab")
    compact(fake)
    append(fake, *"cd")  # nothing is to be replaced, so this is the first call
    fake.log.wait_in("copy_before")
    compact(fake)
    assert fake.partition().cleaned.next_offset == 1
    fake.log.load()
    fake.scheduler.advance(1000)
    assert fake.partition().cleaned.next_offset == 3
    assert len(records(fake)) == 4


@pytest.mark.parametrize("call", ["copy_before", "replace"])
def test_a_pass_ends_if_its_topic_is_deleted_during_a_wait(call: str) -> None:
    fake = compacting()
    append(fake, *"aaaa")
    fake.log.wait_in(call)
    compact(fake)
    check_deleted_meanwhile(fake)


def check_deleted_meanwhile(fake: FakeBroker) -> None:
    fake.broker.topics.delete_topics.delete([fake.existing()])
    fake.scheduler.advance(1000)
    assert fake.store.partitions == {}
    fake.log.load()
    fake.scheduler.advance(BACKOFF_MS)
    assert (fake.store.partitions, passes(fake)) == ({}, [])
    assert fake.events.of("log_compaction_failed") == []


@pytest.mark.parametrize("call", ["copy_before", "replace"])
def test_a_pass_ends_if_its_partition_moves_during_a_wait(call: str) -> None:
    fake = compacting()
    append(fake, *"aaaa")
    fake.log.wait_in(call)
    compact(fake)
    fake.placement.move(fake.existing().partition_ids[0], Leader(2, 1))
    fake.log.load()
    fake.scheduler.advance(1000)
    assert (len(records(fake)), passes(fake)) == (4, [])


@pytest.mark.parametrize("call", ["copy_before", "replace"])
def test_records_that_are_deleted_during_a_wait_do_not_come_back(call: str) -> None:
    fake = compacting(cleanup_policy="compact,delete")
    append(fake, *"abcaba")
    fake.log.wait_in(call)
    compact(fake)
    fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, 3)])
    fake.scheduler.advance(1000)
    fake.log.load()
    fake.scheduler.advance(1000)
    assert records(fake) == [(3, "a"), (4, "b"), (5, "a")]
    assert fake.partition().durable.size_bytes == len(fake.stored())
