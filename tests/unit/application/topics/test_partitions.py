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
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.results import results_of


def begin(
    fake: FakeBroker, *topics: MorePartitions, validate_only: bool = False
) -> list[list[Grown]]:
    return results_of(fake.broker.topics.create_partitions.grow(list(topics), validate_only))


def grow(
    fake: FakeBroker,
    total: int,
    assignments: list[list[int]] | None = None,
    name: str = "t",
    validate_only: bool = False,
) -> Grown:
    results = begin(fake, MorePartitions(name, total, assignments), validate_only=validate_only)
    fake.run()
    ((result,),) = results
    return result


@pytest.fixture
def fake() -> FakeBroker:
    return with_topic(2)


def count(fake: FakeBroker) -> int:
    return len(fake.existing().partition_ids)


def test_new_partitions_follow_the_existing_ones(fake: FakeBroker) -> None:
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


def test_new_partitions_exist_when_they_are_durable(fake: FakeBroker) -> None:
    fake.commit.hold()
    results = begin(fake, MorePartitions("t", 3, None))
    fake.run()
    assert (results, count(fake)) == ([], 2)
    fake.commit.let_go()
    assert (len(results), count(fake)) == (1, 3)


def test_validate_only_adds_no_partitions(fake: FakeBroker) -> None:
    assert isinstance(grow(fake, 3, validate_only=True), Topic)
    assert isinstance(grow(fake, 1, validate_only=True), InvalidPartitions)
    assert count(fake) == 2
    assert not fake.store.staged


@pytest.mark.parametrize(
    ("total", "assignments", "error"),
    [
        (2, None, InvalidPartitions),
        (2**31 - 1, None, PolicyViolation),
        (4, [[1], [2]], InvalidReplicaAssignment),
    ],
)
def test_invalid_partition_counts_and_assignments_are_refused(
    fake: FakeBroker, total: int, assignments: list[list[int]] | None, error: type[BrokerError]
) -> None:
    assert isinstance(grow(fake, total, assignments), error)
    assert count(fake) == 2
    assert isinstance(grow(fake, 4, [[1], [1]]), Topic)


def test_a_failed_commit_adds_no_partitions(fake: FakeBroker) -> None:
    fake.topic("u", 1)
    three = [MorePartitions(name, 3, None) for name in ("t", "unknown", "u")]
    fake.commit.fail_next()
    for outcome in (StorageFailed, Topic):
        results = begin(fake, *three)
        fake.run()
        assert [type(one) for one in results[0]] == [outcome, UnknownTopicOrPartition, outcome]
        assert count(fake) == (3 if outcome is Topic else 2)


@pytest.mark.parametrize(
    ("other", "expected"),
    [(5, InvalidPartitions), (3, InvalidPartitions), (None, UnknownTopicOrPartition)],
)
def test_a_request_waits_for_a_pending_change_of_the_topic(
    fake: FakeBroker, other: int | None, expected: type[BrokerError]
) -> None:
    if other is not None:
        begin(fake, MorePartitions("t", other, None))
    else:
        topic = fake.broker.catalog.topic("t")
        assert topic is not None
        fake.broker.topics.delete_topics.delete([topic])
    results: list[list[BrokerError | Topic]] = begin(fake, MorePartitions("t", 3, None))
    assert results == []
    fake.run()
    assert isinstance(results[0][0], expected)


def test_a_topic_can_be_altered_and_grow_in_one_pass(fake: FakeBroker) -> None:
    alterations = [Alteration("retention.ms", Operation.SET, "1000")]
    fake.broker.configs.alter_configs.alter(
        [RequestedConfigs(Resource(ResourceKind.TOPIC, "t"), alterations)], False
    )
    results = begin(fake, MorePartitions("t", 3, None))
    fake.run()
    assert isinstance(results[0][0], Topic)
    assert count(fake) == 3
    assert fake.existing().configs == {"retention.ms": "1000"}
