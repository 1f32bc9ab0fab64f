from __future__ import annotations

import pytest

from application.state.coordinators import Coordinators
from domain.cluster.nodes import Leader, Node
from domain.errors import CoordinatorNotAvailable, NotCoordinator
from domain.topics.internal_records import partition_of
from domain.topics.topic import OFFSETS_TOPIC
from tests.fakes.broker import FakeBroker
from tests.fakes.groups import coordinate_on


@pytest.fixture
def fake() -> FakeBroker:
    return FakeBroker()


def of_groups(fake: FakeBroker) -> Coordinators:
    return fake.broker.groups.coordinators


def test_a_broker_that_is_alone_coordinates_all_groups(fake: FakeBroker) -> None:
    assert of_groups(fake).node_id("g") == 1
    of_groups(fake).check_here("g")


def test_nobody_coordinates_before_the_topic_is_created(fake: FakeBroker) -> None:
    fake.placement.add(Node(2))
    assert of_groups(fake).node_id("g") == -1
    with pytest.raises(CoordinatorNotAvailable):
        of_groups(fake).check_here("g")


def test_the_leader_of_its_partition_coordinates_a_group(fake: FakeBroker) -> None:
    fake.placement.add(Node(2))
    coordinate_on(fake, 1)
    topic = fake.existing(OFFSETS_TOPIC)
    moved = topic.partition_ids[partition_of("g", len(topic.partition_ids))]
    fake.placement.move(moved, Leader(2, 2))
    assert of_groups(fake).node_id("g") == 2
    with pytest.raises(NotCoordinator):
        of_groups(fake).check_here("g")
    others = [one for one in "abcdef" if partition_of(one, 3) != partition_of("g", 3)]
    assert others
    for group_id in others:
        of_groups(fake).check_here(group_id)
