"""What clients see of it is in tests/unit/interfaces/kafka/handlers/test_several_brokers.py."""

from __future__ import annotations

from collections import Counter

import pytest

from application.cluster.shared_assignment import SharedReplicaAssignment
from domain.cluster.nodes import NO_LEADER, Node
from domain.cluster.registration import PartitionRegistration
from domain.errors import InvalidReplicationFactor
from domain.topics.topic import OFFSETS_TOPIC, TRANSACTION_TOPIC
from interfaces.main.container.joining import announce
from tests.fakes.shared_store import SharedBroker, SharedStore

REBALANCE_MS = 300_000


@pytest.fixture
def shared() -> SharedStore:
    shared = SharedStore()
    shared.start(1)
    shared.start(2)
    return shared


def of(shared: SharedStore) -> SharedReplicaAssignment:
    registrations = shared.brokers[1].core.registrations
    assert registrations is not None
    return SharedReplicaAssignment(registrations, shared.brokers[1].membership)


def test_new_partitions_begin_in_epoch_0_with_their_first_living_replica(
    shared: SharedStore,
) -> None:
    assignment = of(shared)
    shared.members.fence(2)
    assignment.assign_to([7, 8], [[2, 1], [1, 2]])
    registrations = shared.brokers[1].core.registrations
    assert registrations is not None
    assert registrations.find(7) == PartitionRegistration((2, 1), 1, 0)
    assert registrations.find(8) == PartitionRegistration((1, 2), 1, 0)
    assert assignment.at_most(3) == 2


def test_fenced_brokers_come_behind_the_living_ones(shared: SharedStore) -> None:
    shared.start(3)
    shared.members.fence(1)
    of(shared).assign([7, 8], 3)
    registrations = shared.brokers[1].core.registrations
    assert registrations is not None
    assert registrations.find(7) == PartitionRegistration((3, 2, 1), 3, 0)
    assert registrations.find(8) == PartitionRegistration((2, 3, 1), 2, 0)


@pytest.mark.parametrize("is_last", [False, True])
def test_a_broker_that_stops_comes_behind_the_others_while_one_lives(
    shared: SharedStore, is_last: bool
) -> None:
    shared.brokers[1].membership.announce_stop()
    if is_last:
        shared.members.fence(2)
    assignment = of(shared)
    assignment.assign([7, 8], 2)
    assignment.assign_to([9], [[1, 2]])
    registrations = shared.brokers[1].core.registrations
    assert registrations is not None
    leader, other = (1, 2) if is_last else (2, 1)
    for each in (7, 8):
        assert registrations.find(each) == PartitionRegistration((leader, other), leader, 0)
    assert registrations.find(9) == PartitionRegistration((1, 2), leader, 0)


def test_without_a_living_broker_nothing_is_placed(shared: SharedStore) -> None:
    shared.members.fence(1)
    shared.members.fence(2)
    with pytest.raises(InvalidReplicationFactor, match="All brokers are currently fenced"):
        of(shared).check_factor(1)


def test_partitions_that_no_living_broker_can_lead_have_no_leader(shared: SharedStore) -> None:
    """The first broker creates internal topics, also before it is announced."""
    shared.members.fence(1)
    shared.members.fence(2)
    of(shared).assign([7, 8], 2)
    registrations = shared.brokers[1].core.registrations
    assert registrations is not None
    assert registrations.find(7) == PartitionRegistration((2, 1), NO_LEADER.node_id, 0)
    assert registrations.find(8) == PartitionRegistration((1, 2), NO_LEADER.node_id, 0)


INTERNAL = {
    "offsets_topic": "on",
    "offsets_topic_num_partitions": "12",
    "transaction_state_log_num_partitions": "12",
}


def test_internal_topics_that_were_created_before_a_broker_was_announced_get_leaders() -> None:
    """Over a slow store; soon, not when a job is repeated."""
    shared = SharedStore()
    shared.members.register(Node(1))
    broker = SharedBroker(shared, 1, **INTERNAL)
    broker.broker.begin()
    broker.broker.start_upkeep()
    shared.run()
    assert shared.led(OFFSETS_TOPIC, 1) == shared.led(TRANSACTION_TOPIC, 1) == []
    announce(broker.membership, broker.broker, [broker.listener])
    shared.advance(200)
    assert len(shared.led(OFFSETS_TOPIC, 1)) == len(shared.led(TRANSACTION_TOPIC, 1)) == 12


@pytest.mark.parametrize("is_led", [True, False])
def test_later_brokers_become_replicas_of_internal_topics(is_led: bool) -> None:
    """The first one has created them with itself alone. What others ask for waits for it."""
    shared = SharedStore()

    def start(*node_ids: int) -> None:
        for node_id in node_ids:
            shared.start(node_id, default_replication_factor="3", **INTERNAL)
            shared.advance(2000, step_ms=50)

    start(1)
    if is_led:
        start(2, 3, 4)
    else:
        shared.kill(1)
        start(2, 3, 4, 1)
    shared.advance(REBALANCE_MS, step_ms=1000)
    registrations = shared.brokers[1].core.registrations
    assert registrations is not None
    for name in (OFFSETS_TOPIC, TRANSACTION_TOPIC):
        found = [registrations.get(each) for each in shared.brokers[1].existing(name).partition_ids]
        assert {tuple(sorted(one.replicas)) for one in found if one} == {(1, 2, 3)}
        assert Counter(one.leader for one in found if one) == {1: 4, 2: 4, 3: 4}


def test_with_enough_replicas_of_internal_topics_none_is_added() -> None:
    shared = SharedStore()
    for node_id in (1, 2):
        shared.start(node_id, **INTERNAL)
        shared.advance(2000, step_ms=50)
    assert len(shared.led(OFFSETS_TOPIC, 1)) == 12
    registrations = shared.brokers[2].core.registrations
    assert registrations is not None
    assert {one.replicas for one in registrations.values()} == {(1,)}
