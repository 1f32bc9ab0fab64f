from __future__ import annotations

import pytest

from domain.errors import (
    ElectionNotNeeded,
    InvalidReplicaAssignment,
    NoReassignmentInProgress,
    UnknownTopicOrPartition,
)
from tests.fakes.broker import FakeBroker


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker(node_id="5")
    fake.topic("t", 2)
    return fake


def test_a_partition_can_be_reassigned_to_the_only_broker(fake: FakeBroker) -> None:
    fake.broker.topics.replicas.reassign("t", 1, [5])


@pytest.mark.parametrize(
    ("replicas", "why"),
    [
        ([1], "includes broker 1, but no such broker"),
        ([9, 7], "includes broker 7"),
        ([5, 5, 9], "the broker 5 more than once"),
        ([], "empty replica list"),
    ],
)
def test_other_replicas_are_refused(fake: FakeBroker, replicas: list[int], why: str) -> None:
    with pytest.raises(InvalidReplicaAssignment, match=why):
        fake.broker.topics.replicas.reassign("t", 0, replicas)


def test_there_is_no_reassignment_to_cancel(fake: FakeBroker) -> None:
    with pytest.raises(NoReassignmentInProgress):
        fake.broker.topics.replicas.reassign("t", 0, None)


@pytest.mark.parametrize(("name", "index"), [("no", 0), ("t", 2), ("t", -1)])
def test_an_unknown_partition_is_refused(fake: FakeBroker, name: str, index: int) -> None:
    with pytest.raises(UnknownTopicOrPartition):
        fake.broker.topics.replicas.reassign(name, index, None)
    assert isinstance(fake.broker.topics.replicas.elect(name, index), UnknownTopicOrPartition)


def test_no_partition_needs_an_election(fake: FakeBroker) -> None:
    assert isinstance(fake.broker.topics.replicas.elect("t", 1), ElectionNotNeeded)
