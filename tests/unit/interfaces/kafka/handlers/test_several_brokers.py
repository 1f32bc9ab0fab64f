"""Kafka's APIs about leaders and replicas, where three brokers share a store."""

from __future__ import annotations

from typing import Any

import pytest

from domain.cluster.nodes import BrokerRegistration
from tests.fakes.cluster_producer import ask
from tests.fakes.shared_store import SharedBroker, SharedStore
from tests.fakes.structs import request_for

PREFERRED, UNCLEAN = 0, 1
BROKER_RESOURCE = 4
TIMED_OUT, NOT_FOUND, LEADER_NOT_AVAILABLE = 7, 3, 5
INVALID_FACTOR, INVALID_ASSIGNMENT, INVALID_REQUEST, STORAGE = 38, 39, 42, 56
NOT_AVAILABLE, NOT_NEEDED, NOT_UNDER_WAY, NOT_REGISTERED = 80, 84, 85, 102


@pytest.fixture
def shared() -> SharedStore:
    shared = SharedStore()
    for node_id in (1, 2, 3):
        shared.start(node_id, default_replication_factor="2")
    return shared


def create(broker: SharedBroker, **topic: Any) -> Any:
    fields = {"name": "t", "num_partitions": -1, "replication_factor": -1, **topic}
    request = request_for("create_topics", topics=[fields], timeout_ms=1000)
    response = ask(broker, request, 7)
    return response.topics[0]


def described(broker: SharedBroker, name: str = "t") -> list[tuple[int, list[int], list[int]]]:
    """Leader, replicas, in sync replicas of each partition."""
    response = ask(broker, request_for("metadata", topics=[{"name": name}]), 12)
    return [
        (one.leader_id, one.replica_nodes, one.isr_nodes) for one in response.topics[0].partitions
    ]


def assigned(*replicas: list[int]) -> list[dict[str, Any]]:
    return [{"partition_index": i, "broker_ids": each} for i, each in enumerate(replicas)]


def lose(shared: SharedStore, node_id: int) -> None:
    shared.kill(node_id)
    shared.fence(node_id)


# ---- creation


def test_partitions_of_a_new_topic_are_spread_over_the_brokers(shared: SharedStore) -> None:
    created = create(shared.brokers[2], num_partitions=3)
    assert (created.error_code, created.replication_factor) == (0, 2)
    expected = [(1, [1, 2], [1, 2]), (2, [2, 3], [2, 3]), (3, [3, 1], [3, 1])]
    for broker in shared.brokers.values():
        assert described(broker) == expected


def test_fenced_brokers_count_for_the_replication_factor(shared: SharedStore) -> None:
    lose(shared, 3)
    refused = create(shared.brokers[1], num_partitions=1, replication_factor=4)
    assert (refused.error_code, refused.error_message) == (
        INVALID_FACTOR,
        "Unable to replicate the partition 4 time(s): The target replication factor of 4 cannot be "
        "reached because only 3 broker(s) are registered.",
    )
    created = create(shared.brokers[1], num_partitions=2, replication_factor=3)
    assert created.error_code == 0
    assert described(shared.brokers[2]) == [(1, [1, 2, 3], [1, 2]), (2, [2, 1, 3], [2, 1])]


def test_assignments_name_registered_brokers(shared: SharedStore) -> None:
    lose(shared, 3)
    created = create(shared.brokers[1], assignments=assigned([3, 2], [2, 1]))
    assert (created.error_code, created.replication_factor) == (0, 2)
    assert described(shared.brokers[2]) == [(2, [3, 2], [2]), (2, [2, 1], [2, 1])]


@pytest.mark.parametrize(
    "replicas, message",
    [
        ([[1, 2], [1, 4]], "includes broker 4, but no such broker is registered."),
        ([[1, 2], [2, 2]], "includes the broker 2 more than once."),
        ([[1, 2], [1]], "includes a partition with 1 replica(s), but this is not consistent with"),
        ([[3]], "for partition 0 are fenced or in controlled shutdown."),
    ],
)
def test_an_assignment_is_refused(
    shared: SharedStore, replicas: list[list[int]], message: str
) -> None:
    lose(shared, 3)
    created = create(shared.brokers[1], assignments=assigned(*replicas))
    assert created.error_code == INVALID_ASSIGNMENT
    assert message in created.error_message


def grow(broker: SharedBroker, count: int, *replicas: list[int]) -> Any:
    assignments = [{"broker_ids": each} for each in replicas] or None
    topic = {"name": "t", "count": count, "assignments": assignments}
    request = request_for("create_partitions", topics=[topic], timeout_ms=1000)
    response = ask(broker, request, 3)
    return response.results[0]


def test_new_partitions_have_as_many_replicas_as_the_others(shared: SharedStore) -> None:
    create(shared.brokers[1], num_partitions=1)
    assert grow(shared.brokers[3], 3).error_code == 0
    assert grow(shared.brokers[2], 4, [2, 1]).error_code == 0
    assert described(shared.brokers[2]) == [
        (1, [1, 2], [1, 2]),
        (2, [2, 3], [2, 3]),
        (3, [3, 1], [3, 1]),
        (2, [2, 1], [2, 1]),
    ]
    refused = grow(shared.brokers[2], 5, [2])
    assert refused.error_code == INVALID_ASSIGNMENT
    lose(shared, 2)
    lose(shared, 3)
    assert grow(shared.brokers[1], 5).error_code == 0
    assert described(shared.brokers[1])[4] == (1, [1, 2], [1])


def test_a_topic_that_another_broker_has_just_created_is_deleted(shared: SharedStore) -> None:
    topic = shared.brokers[1].topic("t")
    assert shared.brokers[2].broker.catalog.topic("t") is None
    request = request_for("delete_topics", topics=[{"topic_id": topic.topic_id}], timeout_ms=1000)
    [deleted] = ask(shared.brokers[2], request, 6).responses
    assert (deleted.error_code, deleted.name) == (0, "t")


# ---- descriptions


def test_clients_of_all_brokers_get_the_altered_address_of_one(shared: SharedStore) -> None:
    config = {"name": "advertised.listeners", "config_operation": 0, "value": "PLAINTEXT://new:1"}
    resource = {"resource_type": BROKER_RESOURCE, "resource_name": "1", "configs": [config]}
    ask(shared.brokers[1], request_for("incremental_alter_configs", resources=[resource]), 1)
    for broker in shared.brokers.values():
        for api in ("metadata", "describe_cluster"):
            response = ask(broker, request_for(api), 0)
            assert [(one.host, one.port) for one in response.brokers] == [
                ("new", 1),
                ("192.0.2.2", 9092),
                ("192.0.2.3", 9092),
            ]


def test_all_living_brokers_can_have_configs(shared: SharedStore) -> None:
    lose(shared, 3)
    request = request_for("list_config_resources", resource_types=[BROKER_RESOURCE])
    listed = ask(shared.brokers[1], request, 1).config_resources
    assert [one.resource_name for one in listed] == ["1", "2"]


def test_replicas_of_fenced_brokers_are_offline(shared: SharedStore) -> None:
    create(shared.brokers[1], num_partitions=3, replication_factor=1)
    lose(shared, 2)
    request = request_for("describe_topic_partitions", response_partition_limit=10)
    [topic] = ask(shared.brokers[3], request, 0).topics
    second = topic.partitions[1]
    assert (second.leader_id, second.leader_epoch) in ((1, 1), (3, 1))
    assert second.replica_nodes == [2, second.leader_id]
    assert (second.isr_nodes, second.offline_replicas) == ([second.leader_id], [2])


def test_while_no_broker_has_taken_a_partition_over_it_has_no_leader(shared: SharedStore) -> None:
    create(shared.brokers[1], num_partitions=3)
    for broker in shared.brokers.values():
        broker.commit.hold()
    shared.members.fence(2)
    request = request_for("metadata", topics=[{"name": "t"}])
    client = shared.brokers[1].client()
    second = client.request(request, 12).topics[0].partitions[1]
    assert (second.error_code, second.leader_id) == (LEADER_NOT_AVAILABLE, -1)
    assert (second.replica_nodes, second.isr_nodes) == ([2, 3], [3])


def test_fenced_brokers_are_described_if_asked_for(shared: SharedStore) -> None:
    lose(shared, 1)
    for fenced, expected in (
        (False, [(2, False), (3, False)]),
        (True, [(2, False), (3, False), (1, True)]),
    ):
        request = request_for("describe_cluster", endpoint_type=1, include_fenced_brokers=fenced)
        cluster = ask(shared.brokers[3], request, 2)
        assert [(one.broker_id, one.is_fenced) for one in cluster.brokers] == expected
        assert cluster.controller_id == 2


# ---- elections


def elect(
    broker: SharedBroker, partitions: list[int] | None, kind: int = PREFERRED, name: str = "t"
) -> dict[int, int]:
    """The error code of each partition."""
    topics = None if partitions is None else [{"topic": name, "partitions": partitions}]
    request = request_for(
        "elect_leaders", election_type=kind, topic_partitions=topics, timeout_ms=30
    )
    response = ask(broker, request, 2)
    assert response.error_code == 0
    [result] = response.replica_election_results
    return {one.partition_id: one.error_code for one in result.partition_result}


@pytest.fixture
def moved(shared: SharedStore) -> SharedStore:
    """t-1 prefers 2, which has come back."""
    create(shared.brokers[1], num_partitions=3)
    lose(shared, 2)
    shared.start(2)
    assert described(shared.brokers[1])[1] == (3, [2, 3], [2, 3])
    return shared


def test_an_election_responds_when_the_preferred_leader_leads(moved: SharedStore) -> None:
    assert elect(moved.brokers[1], [0, 1, 7]) == {0: NOT_NEEDED, 1: 0, 7: NOT_FOUND}
    for broker in moved.brokers.values():
        assert described(broker)[1] == (2, [2, 3], [2, 3])
    assert elect(moved.brokers[1], [0], name="unknown") == {0: NOT_FOUND}


def test_an_election_of_all_has_those_that_were_needed(moved: SharedStore) -> None:
    assert elect(moved.brokers[1], None) == {1: 0}
    assert elect(moved.brokers[1], None) == {}


def test_unclean_elections_are_never_needed(moved: SharedStore) -> None:
    assert elect(moved.brokers[1], [1], UNCLEAN) == {1: NOT_NEEDED}


def test_a_preferred_leader_that_is_fenced_cannot_be_elected(moved: SharedStore) -> None:
    lose(moved, 2)
    assert elect(moved.brokers[1], [1]) == {1: NOT_AVAILABLE}


def test_a_preferred_leader_that_stops_cannot_be_elected(moved: SharedStore) -> None:
    """Clients find it until it ends, as in Kafka."""
    moved.brokers[2].membership.announce_stop()
    assert elect(moved.brokers[1], [1]) == {1: NOT_AVAILABLE}
    response = ask(moved.brokers[1], request_for("metadata"), 12)
    assert [one.node_id for one in response.brokers] == [1, 2, 3]


def test_an_election_times_out_if_the_leader_does_not_hand_over(moved: SharedStore) -> None:
    moved.brokers[3].commit.hold()
    assert elect(moved.brokers[1], [1]) == {1: TIMED_OUT}
    moved.brokers[3].commit.let_go()
    moved.run()
    assert described(moved.brokers[1])[1][0] == 2


def test_an_election_or_reassignment_takes_the_right_to_change_once(moved: SharedStore) -> None:
    broker = moved.brokers[1]
    replicas, changes = broker.broker.topics.replicas, broker.changes
    for call in (
        lambda: replicas.elect([("t", 1)], True, 30),
        lambda: replicas.reassign([(("t", 0), [2, 3])]),
    ):
        moved.run()
        before = changes.checks
        call()
        assert changes.checks == before + 1


def test_an_election_that_is_not_durable_fails(moved: SharedStore) -> None:
    moved.brokers[1].commit.fail_next()
    assert elect(moved.brokers[1], [1]) == {1: STORAGE}
    assert described(moved.brokers[1])[1][0] == 3


# ---- reassignments


def reassign(
    broker: SharedBroker, replicas: list[int] | None, index: int = 0, may_change: bool = True
) -> tuple[int, str | None]:
    topic = {"name": "t", "partitions": [{"partition_index": index, "replicas": replicas}]}
    request = request_for(
        "alter_partition_reassignments",
        topics=[topic],
        allow_replication_factor_change=may_change,
    )
    [result] = ask(broker, request, 1).responses[0].partitions
    return result.error_code, result.error_message


def under_way(broker: SharedBroker, **fields: Any) -> list[tuple[Any, ...]]:
    response = ask(broker, request_for("list_partition_reassignments", **fields), 0)
    return [
        (topic.name, one.partition_index, one.replicas, one.adding_replicas, one.removing_replicas)
        for topic in response.topics
        for one in topic.partitions
    ]


def test_a_reassignment_moves_the_leader(shared: SharedStore) -> None:
    create(shared.brokers[1], num_partitions=1)
    assert reassign(shared.brokers[3], [3, 2]) == (0, None)
    assert described(shared.brokers[2]) == [(3, [3, 2], [3, 2])]
    assert under_way(shared.brokers[2]) == []
    # As in Kafka, a leader that is a replica stays.
    assert reassign(shared.brokers[1], [1, 3]) == (0, None)
    assert described(shared.brokers[2]) == [(3, [1, 3], [1, 3])]


def test_a_reassignment_is_listed_until_it_is_done(shared: SharedStore) -> None:
    create(shared.brokers[1], num_partitions=2)
    shared.brokers[1].commit.hold()
    assert reassign(shared.brokers[3], [3]) == (0, None)
    row = ("t", 0, [1, 2, 3], [3], [1, 2])
    assert under_way(shared.brokers[2]) == [row]
    for indexes, expected in (([0, 1, 9], [row]), ([1], [])):
        topics = [{"name": "t", "partition_indexes": indexes}]
        assert under_way(shared.brokers[3], topics=topics) == expected
    shared.brokers[1].commit.let_go()
    shared.run()
    assert under_way(shared.brokers[2]) == []
    assert described(shared.brokers[2])[0] == (3, [3], [3])


def test_a_reassignment_that_waits_can_be_cancelled(shared: SharedStore) -> None:
    create(shared.brokers[1], num_partitions=1)
    lose(shared, 3)
    assert reassign(shared.brokers[2], None)[0] == NOT_UNDER_WAY
    assert reassign(shared.brokers[2], [3]) == (0, None)
    assert under_way(shared.brokers[1]) == [("t", 0, [1, 2, 3], [3], [1, 2])]
    assert elect(shared.brokers[1], [0]) == {0: NOT_NEEDED}
    assert reassign(shared.brokers[2], None) == (0, None)
    assert under_way(shared.brokers[1]) == []
    assert described(shared.brokers[1])[0] == (1, [1, 2], [1, 2])


def test_reassignments_are_refused_as_in_kafka(shared: SharedStore) -> None:
    create(shared.brokers[1], num_partitions=1)
    assert reassign(shared.brokers[1], [4])[0] == INVALID_ASSIGNMENT
    assert reassign(shared.brokers[1], [1], index=1)[0] == NOT_FOUND
    assert reassign(shared.brokers[1], [1], may_change=False) == (
        INVALID_FACTOR,
        "The replication factor is changed from 2 to 1",
    )
    assert reassign(shared.brokers[1], [1, 2], may_change=False) == (0, None)
    shared.brokers[1].commit.fail_next()
    assert reassign(shared.brokers[1], [2, 3])[0] == STORAGE
    assert described(shared.brokers[2]) == [(1, [1, 2], [1, 2])]


# ---- registration


def unregister(broker: SharedBroker, node_id: int) -> int:
    code: int = ask(broker, request_for("unregister_broker", broker_id=node_id), 0).error_code
    return code


def test_a_fenced_broker_can_be_unregistered(shared: SharedStore) -> None:
    create(shared.brokers[1], num_partitions=3)
    assert unregister(shared.brokers[1], 2) == INVALID_REQUEST
    lose(shared, 2)
    assert unregister(shared.brokers[1], 1) == INVALID_REQUEST
    shared.brokers[1].commit.fail_next()
    assert unregister(shared.brokers[1], 2) == STORAGE
    assert BrokerRegistration(shared.members.registered[2].node, True) in (
        shared.members.registered.values()
    )
    shared.run()
    assert unregister(shared.brokers[3], 2) == 0
    assert unregister(shared.brokers[3], 2) == NOT_REGISTERED
    # It stays in the lists of replicas until they are reassigned.
    assert described(shared.brokers[1])[1] == (3, [2, 3], [3])


def test_a_broker_that_starts_cannot_be_unregistered(shared: SharedStore) -> None:
    lose(shared, 2)
    registered = shared.members.registered
    registered[2] = registered[2]._replace(session_id=1)
    assert unregister(shared.brokers[1], 2) == INVALID_REQUEST
    assert 2 in registered
