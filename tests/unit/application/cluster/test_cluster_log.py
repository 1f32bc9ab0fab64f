from __future__ import annotations

import pytest

from application.cluster.cluster_log import ClusterLog
from domain.cluster.nodes import BrokerRegistration, Node
from tests.fakes.logs import FakeEventLog
from tests.fakes.membership import FakeMembers, FakeMembership
from tests.fakes.shared_store import SharedStore

JOINED, LEFT, MOVED = "broker_joined", "broker_left", "leaders_moved"


@pytest.fixture
def shared() -> SharedStore:
    """Each broker leads two partitions of `t`; nothing is logged yet."""
    shared = SharedStore()
    for node_id in (1, 2, 3):
        shared.start(node_id, default_replication_factor="3", auto_leader_rebalance_enable="false")
    shared.topic("t", 6)
    for broker in shared.brokers.values():
        broker.events.lines.clear()
    return shared


def lines(shared: SharedStore, node_id: int) -> list[tuple[str, str, dict[str, object]]]:
    found, shared.brokers[node_id].events.lines = shared.brokers[node_id].events.lines, []
    return [line for line in found if line[1] in (JOINED, LEFT, MOVED)]


def moved(**fields: object) -> tuple[str, str, dict[str, object]]:
    none = {"gained": 0, "from_brokers": [], "lost": 0, "to_brokers": []}
    return "info", MOVED, {**none, **fields}


def test_a_broker_that_starts_logs_no_others() -> None:
    shared = SharedStore()
    for node_id in (1, 2):
        shared.start(node_id)
    shared.topic("t", 4)
    assert lines(shared, 2) == []
    assert lines(shared, 1) == [("info", JOINED, {"broker": 2})]


def test_brokers_that_are_known_only_after_the_start_are_not_logged(shared: SharedStore) -> None:
    members, events = FakeMembers(), FakeEventLog()
    membership = FakeMembership(members, 1)
    registrations = shared.brokers[1].core.registrations
    assert registrations is not None
    ClusterLog(registrations, membership, events)
    members.registered[2] = BrokerRegistration(Node(2))
    members.join(Node(1))
    assert events.lines == []
    members.join(Node(3))
    assert events.lines == [("info", JOINED, {"broker": 3})]


def test_survivors_log_a_failover(shared: SharedStore) -> None:
    shared.kill(3)
    shared.fence(3)
    left = ("warning", LEFT, {"broker": 3, "partitions": 2})
    for node_id in (1, 2):
        assert lines(shared, node_id) == [left, moved(gained=1, from_brokers=[3])]


def test_an_orderly_stop_is_logged_by_both_sides(shared: SharedStore) -> None:
    shared.brokers[3].broker.hand_over_all()
    shared.run()
    assert lines(shared, 3) == [moved(lost=2, to_brokers=[1, 2])]
    for node_id in (1, 2):
        assert lines(shared, node_id) == [moved(gained=1, from_brokers=[3])]
    shared.kill(3)
    shared.fence(3)
    assert lines(shared, 1) == [("info", LEFT, {"broker": 3, "partitions": 0})]
    shared.start(3)
    assert lines(shared, 1) == [("info", JOINED, {"broker": 3})]
    assert lines(shared, 3) == []


def test_a_broker_that_was_fenced_logs_who_has_taken_over(shared: SharedStore) -> None:
    shared.fence(3)
    shared.members.come_back(3)
    shared.run()
    assert lines(shared, 3) == [moved(lost=2, to_brokers=[1, 2])]
