from __future__ import annotations

import pytest

from application.groups.reset import Aim, Place, Reset, Target
from domain.errors import (
    BrokerError,
    GroupIdNotFound,
    InvalidGroupId,
    InvalidRequest,
    NonEmptyGroup,
    UnknownTopicOrPartition,
)
from tests.fakes.batches import TIMESTAMP, record_batch
from tests.fakes.classic_members import join_all
from tests.fakes.client import FakeKafka
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


def resets(kafka: FakeKafka, target: Target, *places: Place) -> list[Reset]:
    service = kafka.broker.groups.reset_offsets
    wanted = list(places) or service.places("g", None, None)
    looks = [service.look("g", place, target) for place in wanted]
    searching = service.searched(looks)
    kafka.run()
    assert searching is None or searching.resolved
    return [service.reset(look) for look in looks]


def committed(kafka: FakeKafka) -> dict[int, int]:
    return {index: one.offset for index, one in kafka.broker.groups.offsets.of("g")["t"].items()}


@pytest.mark.parametrize(
    "target, after",
    [
        (Target(Aim.EARLIEST), [0, 0]),
        (Target(Aim.LATEST), [10, 0]),
        (Target(Aim.OFFSET, 7), [7, 0]),
        (Target(Aim.OFFSET, 70), [10, 0]),
        (Target(Aim.SHIFT_BY, 3), [7, 0]),
        (Target(Aim.SHIFT_BY, -3), [1, 0]),
        (Target(Aim.SHIFT_BY, -30), [0, 0]),
        (Target(Aim.TIMESTAMP, 0), [0, 0]),
        (Target(Aim.TIMESTAMP, TIMESTAMP + 1), [1, 0]),
        (Target(Aim.TIMESTAMP, TIMESTAMP + 10**9), [10, 0]),
    ],
)
def test_where_a_group_goes_on_lies_within_its_logs(
    kafka: FakeKafka, target: Target, after: list[int]
) -> None:
    found = resets(kafka, target)
    assert [reset.after for reset in found] == after
    assert [(reset.before, reset.start, reset.end) for reset in found] == [(4, 0, 10), (0, 0, 0)]


def test_it_is_durable_when_it_is_told_and_all_at_once(kafka: FakeKafka) -> None:
    found = resets(kafka, Target(Aim.LATEST))
    assert committed(kafka) == {0: 4, 1: 0}, "only looked at"
    pending = kafka.broker.groups.reset_offsets.keep("g", found)
    assert committed(kafka) == {0: 4, 1: 0}
    kafka.run()
    assert pending.resolved
    assert committed(kafka) == {0: 10, 1: 0}


def test_a_commit_that_fails_leaves_all_as_it_was(kafka: FakeKafka) -> None:
    found = resets(kafka, Target(Aim.LATEST))
    kafka.commit.fail_next()
    pending = kafka.broker.groups.reset_offsets.keep("g", found)
    failures: list[BrokerError | None] = []
    pending.then(failures.append)
    kafka.run()
    assert [str(one) for one in failures] == ["the disk is full"]
    assert committed(kafka) == {0: 4, 1: 0}


def test_a_topic_that_the_group_has_never_read_can_be_begun(kafka: FakeKafka) -> None:
    service = kafka.broker.groups.reset_offsets
    [place] = service.places("new", "u", None)
    look = service.look("new", place, Target(Aim.LATEST))
    assert look.before is None
    service.keep("new", [service.reset(look)])
    kafka.run()
    assert kafka.broker.groups.offsets.of("new")["u"][0].offset == 0


def test_there_is_nothing_to_shift_where_nothing_is_committed(kafka: FakeKafka) -> None:
    with pytest.raises(InvalidRequest, match="Cannot shift offset for partition u-0"):
        resets(kafka, Target(Aim.SHIFT_BY, 1), Place("u", 0))


def test_a_group_with_members_is_left_alone(kafka: FakeKafka) -> None:
    service = kafka.broker.groups.reset_offsets
    found = resets(kafka, Target(Aim.LATEST))
    join_all(classic(kafka))
    with pytest.raises(NonEmptyGroup, match="inactive, but the current state is Completing"):
        service.places("g", None, None)
    assert isinstance(service.keep("g", found).fault, NonEmptyGroup)
    assert committed(kafka) == {0: 4, 1: 0}


def test_what_is_meant_has_to_be_there(kafka: FakeKafka) -> None:
    service = kafka.broker.groups.reset_offsets
    with pytest.raises(InvalidGroupId):
        service.places("", "t", None)
    with pytest.raises(GroupIdNotFound):
        service.places("h", None, None)
    with pytest.raises(UnknownTopicOrPartition, match="no topic v"):
        service.places("g", "v", None)
    with pytest.raises(UnknownTopicOrPartition, match="no partition 2"):
        service.places("g", "t", [0, 2])
    with pytest.raises(InvalidRequest):
        service.places("g", None, [0])
    assert service.places("g", "t", [1, 1]) == [Place("t", 1)]
    assert service.places("g", "t", None) == [Place("t", 0), Place("t", 1)]


def test_a_topic_that_is_deleted_meanwhile_is_left_out(kafka: FakeKafka) -> None:
    found = resets(kafka, Target(Aim.LATEST))
    kafka.broker.topics.delete_topics.delete([kafka.existing("t")])
    kafka.run()
    pending = kafka.broker.groups.reset_offsets.keep("g", found)
    kafka.run()
    assert pending.resolved
    assert kafka.broker.groups.offsets.of("g") == {}
