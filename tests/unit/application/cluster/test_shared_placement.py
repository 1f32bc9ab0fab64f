from __future__ import annotations

from collections.abc import Collection

import pytest

from domain.cluster.nodes import NO_LEADER, Leader, Node
from domain.cluster.registration import PartitionRegistration
from tests.fakes.shared_store import SharedBroker, SharedStore


@pytest.fixture
def shared() -> SharedStore:
    shared = SharedStore()
    shared.start(1)
    shared.start(2)
    return shared


def save(broker: SharedBroker, one: PartitionRegistration, partition_id: int = 7) -> None:
    assert broker.core.registrations is not None
    broker.core.registrations.save([(partition_id, one)])
    broker.shared.run()


def test_its_nodes_are_the_brokers_that_are_not_fenced(shared: SharedStore) -> None:
    placement = shared.brokers[2].core.placement
    assert not placement.is_alone
    assert [node.node_id for node in placement.nodes()] == [1, 2]
    assert placement.controller_id == 1
    shared.kill(1)
    shared.fence(1)
    assert [node.node_id for node in placement.nodes()] == [2]
    assert placement.controller_id == 2
    shared.members.fence(2)
    assert placement.controller_id == NO_LEADER.node_id


def test_an_unknown_partition_has_no_leader_and_no_replicas(shared: SharedStore) -> None:
    placement = shared.brokers[1].core.placement
    assert placement.leader(7) == NO_LEADER
    assert list(placement.replicas(7)) == []


def test_it_calls_back_for_own_changes_and_those_of_others(shared: SharedStore) -> None:
    moved: list[tuple[int, Collection[int]]] = []
    for node_id, broker in shared.brokers.items():
        broker.core.placement.on_moved(lambda ids, n=node_id: moved.append((n, list(ids))))
    led = PartitionRegistration((1, 2), 1, 0)
    save(shared.brokers[1], led)
    assert sorted(moved) == [(1, [7]), (2, [7])]
    assert shared.brokers[2].core.placement.leader(7) == Leader(1, 0)
    moved.clear()
    save(shared.brokers[2], led.raised())
    assert sorted(moved) == [(1, [7]), (2, [7])]
    moved.clear()
    shared.members.join(Node(3))
    assert sorted(moved) == [(1, []), (2, [])]


def test_new_replicas_with_the_same_leader_change_cached_responses_only(
    shared: SharedStore,
) -> None:
    led = PartitionRegistration((1, 2), 1, 0)
    save(shared.brokers[1], led)
    moved: list[Collection[int]] = []
    one = shared.brokers[1].core.placement
    one.on_moved(moved.append)
    save(shared.brokers[2], led._replace(replicas=(1,)))
    assert moved == [[]]
    assert list(one.replicas(7)) == [1]
