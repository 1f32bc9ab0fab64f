from __future__ import annotations

import pytest

from application.background.runner import SLICE_NS, JobResult
from application.groups.reset import Reset, ResetStrategy, ResetTarget
from domain.errors import (
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
from tests.fakes.groups import GroupOfOneWord
from tests.fakes.mixed_group import classic
from tests.fakes.offset_requests import at, commit


@pytest.fixture
def kafka() -> FakeKafka:
    """Ten records in t-0, nothing in t-1; the group stands at 4 and at 0."""
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
    job = service.reset("g", None, None, ResetTarget(ResetStrategy.LATEST), False)
    return kafka.broker.background.run(job)


def committed(kafka: FakeKafka) -> dict[int, int]:
    return {index: one.offset for index, one in kafka.broker.groups.offsets.of("g")["t"].items()}


@pytest.mark.parametrize(
    "target, after",
    [
        (ResetTarget(ResetStrategy.EARLIEST), [0, 0]),
        (ResetTarget(ResetStrategy.LATEST), [10, 0]),
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
def test_where_a_group_goes_on_lies_within_its_logs(
    kafka: FakeKafka, target: ResetTarget, after: list[int]
) -> None:
    found = reset(kafka, target, dry_run=True)
    assert [reset.after for reset in found] == after
    assert [(reset.before, reset.start, reset.end) for reset in found] == [(4, 0, 10), (0, 0, 0)]


def test_it_is_durable_when_it_is_told_and_all_at_once(kafka: FakeKafka) -> None:
    reset(kafka, ResetTarget(ResetStrategy.LATEST), dry_run=True)
    assert committed(kafka) == {0: 4, 1: 0}, "only looked at"
    pending = begin_reset(kafka)
    assert committed(kafka) == {0: 4, 1: 0} and not pending.resolved
    kafka.run()
    assert pending.resolved
    assert committed(kafka) == {0: 10, 1: 0}


def test_a_commit_that_fails_leaves_all_as_it_was(kafka: FakeKafka) -> None:
    kafka.commit.fail_next()
    with pytest.raises(StorageFailed, match="the disk is full"):
        reset(kafka, ResetTarget(ResetStrategy.LATEST))
    assert committed(kafka) == {0: 4, 1: 0}


def test_a_topic_that_the_group_has_never_read_can_be_begun(kafka: FakeKafka) -> None:
    [done] = reset(kafka, ResetTarget(ResetStrategy.LATEST), "u", group_id="new")
    assert done.before is None
    assert kafka.broker.groups.offsets.of("new")["u"][0].offset == 0


def test_there_is_nothing_to_shift_where_nothing_is_committed(kafka: FakeKafka) -> None:
    with pytest.raises(InvalidRequest, match="Cannot shift offset for partition u-0"):
        reset(kafka, ResetTarget(ResetStrategy.SHIFT_BY, 1), "u", [0])


def test_a_group_with_members_is_left_alone(kafka: FakeKafka) -> None:
    join_all(classic(kafka))
    with pytest.raises(NonEmptyGroup, match="inactive, but the current state is Completing"):
        reset(kafka, ResetTarget(ResetStrategy.LATEST))
    assert committed(kafka) == {0: 4, 1: 0}


def test_a_member_that_joins_meanwhile_is_noticed(kafka: FakeKafka) -> None:
    kafka.clock.look_ns = SLICE_NS
    pending = begin_reset(kafka)
    group = GroupOfOneWord("g")
    group.members = {"m": None}
    kafka.broker.groups.registry.put(group)
    kafka.run()
    assert isinstance(pending.fault, NonEmptyGroup)
    assert committed(kafka) == {0: 4, 1: 0}


def test_what_is_meant_has_to_be_there(kafka: FakeKafka) -> None:
    latest = ResetTarget(ResetStrategy.LATEST)
    with pytest.raises(InvalidGroupId):
        reset(kafka, latest, "t", group_id="")
    with pytest.raises(GroupIdNotFound):
        reset(kafka, latest, group_id="h")
    with pytest.raises(UnknownTopicOrPartition, match="no topic v"):
        reset(kafka, latest, "v")
    with pytest.raises(UnknownTopicOrPartition, match="no partition 2"):
        reset(kafka, latest, "t", [0, 2])
    with pytest.raises(InvalidRequest):
        reset(kafka, latest, None, [0])
    assert [one.partition for one in reset(kafka, latest, "t", [1, 1])] == [1]
    assert [one.partition for one in reset(kafka, latest, "t")] == [0, 1]


def test_a_topic_that_is_deleted_meanwhile_is_left_out(kafka: FakeKafka) -> None:
    kafka.clock.look_ns = SLICE_NS
    pending = begin_reset(kafka)
    kafka.scheduler.run_pass()  # it has looked at both partitions
    kafka.broker.catalog.remove(kafka.existing("t"))
    kafka.run()
    assert pending.resolved
    assert committed(kafka) == {0: 4, 1: 0}
