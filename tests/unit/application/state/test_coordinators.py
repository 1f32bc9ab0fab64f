from __future__ import annotations

from collections.abc import Callable

import pytest

from application.state.coordinators import Coordinators, Moved
from domain.cluster.nodes import Leader, Node
from domain.errors import (
    CoordinatorLoadInProgress,
    CoordinatorNotAvailable,
    NotCoordinator,
    StorageFailed,
)
from domain.topics.internal_records import partition_of
from domain.topics.topic import OFFSETS_TOPIC
from tests.fakes.broker import FakeBroker
from tests.fakes.groups import coordinate_on
from tests.fakes.two_brokers import TwoBrokers


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


IDS = "abcdef"


def followed(of: Coordinators) -> list[tuple[str, str]]:
    """What is lost and gained, of six groups."""
    seen: list[tuple[str, str]] = []

    def note(what: str) -> Callable[[Moved], None]:
        return lambda moved: seen.append((what, "".join(filter(moved, IDS))))

    of.on_moved(note("lost"), note("gained"))
    return seen


def of_partition(index: int) -> str:
    return "".join(one for one in IDS if partition_of(one, 2) == index)


def test_groups_move_with_the_leader_of_their_partition() -> None:
    two = TwoBrokers()
    seen = followed(of_groups(two.second))
    placement, ids = two.second.placement, two.first.existing(OFFSETS_TOPIC).partition_ids
    placement.move(two.first.existing("t").partition_ids[0], Leader(2, 1))
    assert seen == []
    placement.move(ids[0], Leader(2, 1))
    assert seen.pop() == ("gained", of_partition(0)) and not seen
    assert [of_groups(two.second).is_here(one) for one in IDS] == [
        one in of_partition(0) for one in IDS
    ]
    placement.move_all({ids[0]: Leader(1, 2), ids[1]: Leader(2, 1)})
    assert seen == [("lost", of_partition(0)), ("gained", of_partition(1))]


def test_a_new_epoch_of_the_same_node_moves_nothing() -> None:
    two = TwoBrokers()
    seen = followed(of_groups(two.first))
    first = two.first.existing(OFFSETS_TOPIC).partition_ids[0]
    two.first.placement.move(first, Leader(1, 4))
    assert seen == []
    assert all(map(of_groups(two.first).is_here, of_partition(0)))


def test_all_groups_move_with_the_topic(fake: FakeBroker) -> None:
    seen = followed(of_groups(fake))
    fake.placement.add(Node(2))
    assert seen == [("lost", IDS)]
    coordinate_on(fake, 1)
    assert seen[1:] == [("gained", IDS)]
    seen.clear()
    fake.broker.catalog.remove(fake.existing(OFFSETS_TOPIC))
    assert seen == [("lost", IDS)]
    assert not any(map(of_groups(fake).is_here, IDS))


def test_what_cannot_be_loaded_is_not_here_until_a_move_loads_it() -> None:
    two = TwoBrokers()
    of, placement = of_groups(two.second), two.second.placement
    failures = [StorageFailed("unreadable")]

    def gained(moved: Moved) -> None:
        if failures:
            raise failures.pop()

    of.on_moved(lambda _: None, gained)
    [first, _] = two.first.existing(OFFSETS_TOPIC).partition_ids
    with pytest.raises(StorageFailed):
        placement.move(first, Leader(2, 1))
    key = of_partition(0)[0]
    with pytest.raises(CoordinatorNotAvailable):
        of.check_here(key)
    placement.add(Node(9))
    of.check_here(key)


def test_the_placement_counts_before_its_change_is_notified() -> None:
    two = TwoBrokers()
    key, of = of_partition(0)[0], of_groups(two.first)
    assert of.is_here(key)
    [first, _] = two.first.existing(OFFSETS_TOPIC).partition_ids
    two.first.placement._leaders[first] = Leader(2, 1)
    assert not of.is_here(key)


def test_offsets_are_not_fetched_when_another_broker_may_have_newer_ones(fake: FakeBroker) -> None:
    fetch = fake.broker.groups.offset_fetch
    assert fetch.offsets("g", None, -1) == {}
    fake.placement.has_lease = False
    with pytest.raises(CoordinatorLoadInProgress):
        fetch.offsets("g", None, -1)


def test_offsets_are_not_fetched_while_the_coordinator_moves(fake: FakeBroker) -> None:
    """Clients repeat the request after this error, and not after CoordinatorNotAvailable."""
    fake.placement.add(Node(2))
    assert of_groups(fake).node_id("g") == -1
    with pytest.raises(CoordinatorLoadInProgress):
        fake.broker.groups.offset_fetch.offsets("g", None, -1)
