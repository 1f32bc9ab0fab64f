from __future__ import annotations

from typing import Any

import pytest

from application.background.runner import SLICE_NS, JobResult
from application.groups.reset import Reset, ResetStrategy, ResetTarget
from domain.errors import (
    BrokerError,
    GroupIdNotFound,
    InvalidGroupId,
    InvalidRequest,
    NonEmptyGroup,
    StorageFailed,
    UnknownTopicOrPartition,
)
from tests.fakes.batches import TIMESTAMP, record_batch
from tests.fakes.classic_members import join_all
from tests.fakes.client import FakeKafka
from tests.fakes.groups import FakeGroup
from tests.fakes.mixed_group import classic
from tests.fakes.offset_requests import at, commit

LATEST = ResetTarget(ResetStrategy.LATEST)


@pytest.fixture
def kafka() -> FakeKafka:
    """Ten records in t-0, none in t-1; the group has committed 4 and 0."""
    kafka = FakeKafka()
    kafka.topic("t", 2)
    kafka.topic("u", 1)
    kafka.appended(record_batch([(None, b"v", (), TIMESTAMP + ms) for ms in range(10)]), "t", 0)
    commit(kafka.client(), "g", ("t", [at(0, 4), at(1, 0)]))
    return kafka


def reset(
    kafka: FakeKafka,
    target: ResetTarget,
    topic: str | None = None,
    partitions: list[int] | None = None,
    group_id: str = "g",
    dry_run: bool = False,
) -> list[Reset]:
    service = kafka.broker.groups.reset_offsets
    job = service.reset(group_id, topic, partitions, target, dry_run)
    pending = kafka.broker.background.run(job)
    results: list[list[Reset]] = []
    kafka.run()
    pending.then(results.append)
    return results[0]


def begin_reset(kafka: FakeKafka) -> JobResult[list[Reset]]:
    service = kafka.broker.groups.reset_offsets
    job = service.reset("g", None, None, LATEST, False)
    return kafka.broker.background.run(job)


def committed(kafka: FakeKafka) -> dict[int, int]:
    return {index: one.offset for index, one in kafka.broker.groups.offsets.of("g")["t"].items()}


@pytest.mark.parametrize(
    "target, after",
    [
        (ResetTarget(ResetStrategy.EARLIEST), [0, 0]),
        (LATEST, [10, 0]),
        (ResetTarget(ResetStrategy.OFFSET, 7), [7, 0]),
        (ResetTarget(ResetStrategy.OFFSET, 70), [10, 0]),
        (ResetTarget(ResetStrategy.SHIFT_BY, 3), [7, 0]),
        (ResetTarget(ResetStrategy.SHIFT_BY, -3), [1, 0]),
        (ResetTarget(ResetStrategy.SHIFT_BY, -30), [0, 0]),
        (ResetTarget(ResetStrategy.TIMESTAMP, 0), [0, 0]),
        (ResetTarget(ResetStrategy.TIMESTAMP, TIMESTAMP + 1), [1, 0]),
        (ResetTarget(ResetStrategy.TIMESTAMP, TIMESTAMP + 10**9), [10, 0]),
    ],
)
def test_a_target_is_limited_to_the_log(
    kafka: FakeKafka, target: ResetTarget, after: list[int]
) -> None:
    found = reset(kafka, target, dry_run=True)
    assert [reset.after for reset in found] == after
    assert [(reset.before, reset.start, reset.end) for reset in found] == [(4, 0, 10), (0, 0, 0)]


def test_a_reset_is_durable_and_complete_when_it_is_reported(kafka: FakeKafka) -> None:
    reset(kafka, LATEST, dry_run=True)
    assert committed(kafka) == {0: 4, 1: 0}, "a dry run"
    pending = begin_reset(kafka)
    assert committed(kafka) == {0: 4, 1: 0} and not pending.resolved
    kafka.run()
    assert pending.resolved
    assert committed(kafka) == {0: 10, 1: 0}


def test_a_failed_commit_resets_nothing(kafka: FakeKafka) -> None:
    kafka.commit.fail_next()
    with pytest.raises(StorageFailed, match="the disk is full"):
        reset(kafka, LATEST)
    assert committed(kafka) == {0: 4, 1: 0}


def test_a_topic_without_committed_offsets_can_be_reset(kafka: FakeKafka) -> None:
    [done] = reset(kafka, LATEST, "u", group_id="new")
    assert done.before is None
    assert kafka.broker.groups.offsets.of("new")["u"][0].offset == 0


def test_a_shift_needs_a_committed_offset(kafka: FakeKafka) -> None:
    with pytest.raises(InvalidRequest, match="Cannot shift offset for partition u-0"):
        reset(kafka, ResetTarget(ResetStrategy.SHIFT_BY, 1), "u", [0])


def test_a_group_with_members_is_refused(kafka: FakeKafka) -> None:
    join_all(classic(kafka))
    with pytest.raises(NonEmptyGroup, match="inactive, but the current state is Completing"):
        reset(kafka, LATEST)
    assert committed(kafka) == {0: 4, 1: 0}


def test_a_member_that_joins_during_a_reset_ends_it(kafka: FakeKafka) -> None:
    kafka.clock.look_ns = SLICE_NS
    pending = begin_reset(kafka)
    group = FakeGroup("g")
    group.members = {"m": None}
    kafka.broker.groups.registry.put(group)
    kafka.run()
    assert isinstance(pending.fault, NonEmptyGroup)
    assert committed(kafka) == {0: 4, 1: 0}


@pytest.mark.parametrize(
    ("error", "match", "where"),
    [
        (InvalidGroupId, None, {"topic": "t", "group_id": ""}),
        (GroupIdNotFound, None, {"group_id": "h"}),
        (UnknownTopicOrPartition, "no topic v", {"topic": "v"}),
        (UnknownTopicOrPartition, "no partition 2", {"topic": "t", "partitions": [0, 2]}),
        (InvalidRequest, None, {"partitions": [0]}),
    ],
)
def test_unknown_groups_topics_and_partitions_are_refused(
    kafka: FakeKafka, error: type[BrokerError], match: str | None, where: dict[str, Any]
) -> None:
    with pytest.raises(error, match=match):
        reset(kafka, LATEST, **where)


def test_a_reset_can_be_limited_to_a_topic_or_to_partitions(kafka: FakeKafka) -> None:
    assert [one.partition for one in reset(kafka, LATEST, "t", [1, 1])] == [1]
    assert [one.partition for one in reset(kafka, LATEST, "t")] == [0, 1]


def test_a_topic_that_is_deleted_during_a_reset_is_left_out(kafka: FakeKafka) -> None:
    kafka.clock.look_ns = SLICE_NS
    pending = begin_reset(kafka)
    for _ in range(3):
        kafka.scheduler.run_pass()  # both partitions are read
    kafka.broker.catalog.remove(kafka.existing("t"))
    kafka.run()
    assert pending.resolved
    assert committed(kafka) == {0: 4, 1: 0}
