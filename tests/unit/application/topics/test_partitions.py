from __future__ import annotations

import pytest

from application.configs.alter import RequestedConfigs
from application.topics.partitions import Grown, MorePartitions
from domain.configs.alteration import Alteration, Operation
from domain.configs.resource import Resource, ResourceKind
from domain.errors import (
    BrokerError,
    InvalidPartitions,
    InvalidReplicaAssignment,
    PolicyViolation,
    StorageFailed,
    UnknownTopicOrPartition,
)
from domain.topics.topic import Topic
from tests.fakes.answers import answers_of
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker


def ask(
    fake: FakeBroker, *wanted: MorePartitions, validate_only: bool = False
) -> list[list[Grown]]:
    return answers_of(fake.broker.topics.create_partitions.grow(list(wanted), validate_only))


def grow(
    fake: FakeBroker,
    total: int,
    assignments: list[list[int]] | None = None,
    name: str = "t",
    validate_only: bool = False,
) -> Grown:
    answers = ask(fake, MorePartitions(name, total, assignments), validate_only=validate_only)
    fake.run()
    ((answer,),) = answers
    return answer


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker()
    fake.topic("t", 2)
    return fake


def count(fake: FakeBroker) -> int:
    return len(fake.existing().partition_ids)


def test_new_partitions_come_after_the_old_ones(fake: FakeBroker) -> None:
    fake.appended(record_batch(["a"]), index=1)
    old = fake.existing()
    fake.topic("u", 1)
    grown = grow(fake, 4)
    assert isinstance(grown, Topic)
    assert grown.partition_ids == (*old.partition_ids, 3, 4)
    assert grown.topic_id == old.topic_id
    assert fake.partition(index=1).end.next_offset == 1
    assert fake.partition(index=3).end.next_offset == 0
    again = fake.restarted().existing()
    assert again.partition_ids == grown.partition_ids


def test_they_are_there_once_they_are_durable(fake: FakeBroker) -> None:
    fake.commit.hold()
    answers = ask(fake, MorePartitions("t", 3, None))
    fake.run()
    assert (answers, count(fake)) == ([], 2)
    fake.commit.let_go()
    assert (len(answers), count(fake)) == (1, 3)


def test_what_is_only_validated_is_not_made(fake: FakeBroker) -> None:
    assert isinstance(grow(fake, 3, validate_only=True), Topic)
    assert isinstance(grow(fake, 1, validate_only=True), InvalidPartitions)
    assert count(fake) == 2
    assert not fake.store.staged


@pytest.mark.parametrize("total", [2, 1, 0, -1])
def test_a_topic_never_gets_fewer(fake: FakeBroker, total: int) -> None:
    assert isinstance(grow(fake, total), InvalidPartitions)


def test_an_unknown_topic_is_not_made(fake: FakeBroker) -> None:
    assert isinstance(grow(fake, 3, name="u"), UnknownTopicOrPartition)


@pytest.mark.parametrize("total", [10_003, 2**31 - 1])
def test_too_many_at_once_are_refused(fake: FakeBroker, total: int) -> None:
    assert isinstance(grow(fake, total), PolicyViolation)


def test_each_new_partition_may_be_assigned_to_this_broker(fake: FakeBroker) -> None:
    assert isinstance(grow(fake, 4, [[1], [1]]), Topic)


@pytest.mark.parametrize(
    "assignments", [[], [[1]], [[1], [1], [1]], [[1], [2]], [[1], []], [[1, 1], [1]]]
)
def test_an_assignment_that_cannot_be_is_refused(
    fake: FakeBroker, assignments: list[list[int]]
) -> None:
    assert isinstance(grow(fake, 4, assignments), InvalidReplicaAssignment)
    assert count(fake) == 2


def test_one_answer_each_in_order(fake: FakeBroker) -> None:
    fake.topic("u", 1)
    answers = ask(
        fake,
        MorePartitions("t", 3, None),
        MorePartitions("nope", 3, None),
        MorePartitions("u", 2, None),
    )
    fake.run()
    assert [type(one) for one in answers[0]] == [Topic, UnknownTopicOrPartition, Topic]


def test_after_a_failed_commit_the_topic_is_as_it_was(fake: FakeBroker) -> None:
    fake.commit.fail_next()
    answers = ask(fake, MorePartitions("t", 3, None), MorePartitions("nope", 3, None))
    fake.run()
    assert [type(one) for one in answers[0]] == [StorageFailed, UnknownTopicOrPartition]
    assert count(fake) == 2
    assert isinstance(grow(fake, 3), Topic)


@pytest.mark.parametrize(
    ("other", "expected"),
    [(5, InvalidPartitions), (3, InvalidPartitions), (None, UnknownTopicOrPartition)],
)
def test_who_comes_while_a_change_is_on_its_way_waits_for_it(
    fake: FakeBroker, other: int | None, expected: type[BrokerError]
) -> None:
    if other is not None:
        ask(fake, MorePartitions("t", other, None))
    else:
        topic = fake.broker.catalog.topic("t")
        assert topic is not None
        fake.broker.topics.delete_topics.delete([topic])
    answers: list[list[BrokerError | Topic]] = ask(fake, MorePartitions("t", 3, None))
    assert answers == []
    fake.run()
    assert isinstance(answers[0][0], expected)


def test_a_topic_that_is_configured_and_grows_in_one_pass_does_both(fake: FakeBroker) -> None:
    wanted = [Alteration("retention.ms", Operation.SET, "1000")]
    fake.broker.configs.alter_configs.alter(
        [RequestedConfigs(Resource(ResourceKind.TOPIC, "t"), wanted)], False
    )
    answers = ask(fake, MorePartitions("t", 3, None))
    fake.run()
    assert isinstance(answers[0][0], Topic)
    assert count(fake) == 3
    assert fake.existing().configs == {"retention.ms": "1000"}
