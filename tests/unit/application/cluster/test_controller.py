from __future__ import annotations

from collections import Counter

import pytest

from application.cluster import controller
from domain.cluster.registration import PartitionRegistration
from tests.fakes.batches import record_batch
from tests.fakes.shared_store import SharedStore

REBALANCE_MS = 300_000


@pytest.fixture
def shared() -> SharedStore:
    shared = SharedStore()
    for node_id in (1, 2, 3):
        shared.start(node_id, default_replication_factor="2")
    return shared


def leaders(shared: SharedStore) -> list[tuple[int, int]]:
    broker = next(iter(shared.brokers.values()))
    return [broker.leader(each) for each in broker.existing().partition_ids]


def registration(shared: SharedStore, partition_id: int) -> PartitionRegistration | None:
    registrations = next(iter(shared.brokers.values())).core.registrations
    assert registrations is not None
    return registrations.get(partition_id)


def lose(shared: SharedStore, node_id: int) -> None:
    shared.kill(node_id)
    shared.fence(node_id)


def test_the_partitions_of_a_fenced_broker_go_to_their_living_replicas(
    shared: SharedStore,
) -> None:
    shared.topic("t", 6)
    shared.brokers[2].appended(record_batch(["a"]), index=1)
    lose(shared, 2)
    assert leaders(shared)[:3] == [(1, 0), (3, 1), (3, 0)]
    shared.brokers[3].appended(record_batch(["b"]), index=1)
    assert shared.brokers[3].partition(index=1).high_watermark == 2


def test_the_fenced_broker_may_be_the_controller(shared: SharedStore) -> None:
    shared.topic("t", 6)
    lose(shared, 1)
    assert {node_id for node_id, _ in leaders(shared)} == {2, 3}


def test_without_a_living_replica_another_broker_leads_and_is_shown(shared: SharedStore) -> None:
    topic = shared.topic("t", 6)
    lose(shared, 2)
    lose(shared, 3)
    assert {node_id for node_id, _ in leaders(shared)} == {1}
    placement = shared.brokers[1].core.placement
    assert list(placement.replicas(topic.partition_ids[1])) == [2, 3, 1]


def test_thousands_of_partitions_are_few_commits(
    shared: SharedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared.topic("t", 1500)
    shared.kill(2)
    before = shared.brokers[1].commit.count
    shared.fence(2)
    assert shared.brokers[1].commit.count == before + 1
    monkeypatch.setattr(controller, "PARTITIONS_PER_COMMIT", 300)
    lose(shared, 3)
    assert shared.brokers[1].commit.count == before + 1 + 3
    assert Counter(node_id for node_id, _ in leaders(shared)) == {1: 1500}


def test_a_take_over_is_repeated_after_a_failed_commit(shared: SharedStore) -> None:
    shared.topic("t", 3)
    shared.brokers[1].commit.fail_next()
    lose(shared, 2)
    assert leaders(shared)[1] == (2, 0)
    shared.advance(2000)
    assert leaders(shared)[1] == (3, 1)


def test_partitions_that_have_no_leaders_yet_get_them(shared: SharedStore) -> None:
    """A broker that had the store alone has created them, with its leader epoch."""
    topic = shared.topic("t", 3)
    for node_id in (1, 2, 3):
        shared.kill(node_id)
    shared.data.tables["leaders"].clear()
    shared.data.keys["leaders"].clear()
    for node_id in (1, 2, 3):
        shared.start(node_id)
    assert sorted(node_id for node_id, _ in leaders(shared)) == [1, 2, 3]
    assert all(epoch >= 1 for _, epoch in leaders(shared))
    shared.brokers[leaders(shared)[0][0]].appended(record_batch(["a"]))
    assert topic.partition_ids == (0, 1, 2)


def test_a_partition_that_was_given_to_a_fenced_broker_is_taken_over(shared: SharedStore) -> None:
    lose(shared, 3)
    one = shared.brokers[1]
    assert one.core.registrations is not None
    one.changes.check()
    one.core.registrations.save([(99, PartitionRegistration((3, 2), 3, 0))])
    shared.run()
    assert registration(shared, 99) == PartitionRegistration((3, 2), 2, 1)


@pytest.mark.parametrize(
    ("partitions", "of_each", "per_commit"),
    [pytest.param(6, 2, 1000, id="one-commit"), pytest.param(99, 33, 10, id="several-commits")],
)
def test_partitions_return_to_their_preferred_leaders_in_one_check(
    shared: SharedStore,
    monkeypatch: pytest.MonkeyPatch,
    partitions: int,
    of_each: int,
    per_commit: int,
) -> None:
    monkeypatch.setattr(controller, "PARTITIONS_PER_COMMIT", per_commit)
    shared.topic("t", partitions)
    lose(shared, 2)
    shared.start(2)
    assert Counter(node_id for node_id, _ in leaders(shared))[2] == 0
    shared.advance(REBALANCE_MS + 1000, step_ms=1000)
    led = Counter(node_id for node_id, _ in leaders(shared))
    assert led == {1: of_each, 2: of_each, 3: of_each}


def test_they_return_after_a_failed_commit(shared: SharedStore) -> None:
    shared.topic("t", 6)
    lose(shared, 2)
    shared.start(2)
    shared.brokers[1].commit.fail_next()
    shared.advance(REBALANCE_MS + 100, step_ms=50)
    assert Counter(node_id for node_id, _ in leaders(shared))[2] == 0
    shared.advance(2000)
    assert Counter(node_id for node_id, _ in leaders(shared)) == {1: 2, 2: 2, 3: 2}


def test_they_stay_where_they_are_without_balancing(shared: SharedStore) -> None:
    shared.topic("t", 6)
    lose(shared, 2)
    shared.start(2)
    for broker in shared.brokers.values():
        broker.config.auto_leader_rebalance_enable = False
    shared.advance(REBALANCE_MS + 1000, step_ms=1000)
    assert Counter(node_id for node_id, _ in leaders(shared))[2] == 0


def test_a_broker_that_stops_gets_no_leaders(shared: SharedStore) -> None:
    """It is the controller itself, and leaves all to the others while they live."""
    shared.topic("t", 6)
    shared.brokers[1].broker.hand_over_all()
    shared.run()
    shared.advance(REBALANCE_MS + 1000, step_ms=1000)
    assert Counter(node_id for node_id, _ in leaders(shared)) == {2: 3, 3: 3}
    lose(shared, 2)
    assert {node_id for node_id, _ in leaders(shared)} == {3}
    lose(shared, 3)
    assert {node_id for node_id, _ in leaders(shared)} == {1}
