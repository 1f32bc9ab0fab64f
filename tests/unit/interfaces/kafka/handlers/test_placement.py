"""Responses about other nodes: leaders of partitions, and coordinators of groups."""

from __future__ import annotations

import pytest

from domain.cluster.nodes import Leader, Node
from interfaces.kafka.wire.schema import Request
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.groups import coordinate_on
from tests.fakes.requests import fetch, produce
from tests.fakes.structs import request_for

OTHER = Node(2, "b", {"PLAINTEXT": ("192.0.2.2", 9094)})
LEADER_NOT_AVAILABLE, NOT_LEADER, NOT_COORDINATOR, FENCED = 5, 6, 16, 74


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t")
    kafka.placement.add(OTHER)
    return kafka


def move(kafka: FakeKafka, node_id: int, epoch: int) -> None:
    kafka.placement.move(kafka.existing().partition_ids[0], Leader(node_id, epoch))


def fetch_by_id(kafka: FakeKafka, epoch: int, max_wait_ms: int = 0) -> Request:
    request = fetch(max_wait_ms)
    request.topics[0].topic_id = kafka.existing().topic_id
    request.topics[0].partitions[0].current_leader_epoch = epoch
    return request


def test_metadata_has_all_nodes_and_the_leader_of_each_partition(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.request(request_for("metadata", topics=None), 12)  # cached until a leader moves
    move(kafka, 2, 7)
    metadata = client.request(request_for("metadata", topics=None), 12)
    nodes = [(one.node_id, one.host, one.port, one.rack) for one in metadata.brokers]
    assert nodes == [(1, "192.0.2.1", 9092, None), (2, "192.0.2.2", 9094, "b")]
    [partition] = metadata.topics[0].partitions
    assert (partition.leader_id, partition.leader_epoch) == (2, 7)
    cluster = client.request(request_for("describe_cluster", endpoint_type=1), 1)
    assert [one.broker_id for one in cluster.brokers] == [1, 2]


def test_a_leader_that_is_not_alive_is_in_no_response(kafka: FakeKafka, client: FakeClient) -> None:
    move(kafka, 2, 7)
    client.request(request_for("metadata", topics=None), 12)  # cached until a node leaves
    kafka.placement.remove(OTHER)
    metadata = client.request(request_for("metadata", topics=None), 12)
    assert [one.node_id for one in metadata.brokers] == [1]
    [partition] = metadata.topics[0].partitions
    assert (partition.error_code, partition.leader_id) == (LEADER_NOT_AVAILABLE, -1)
    assert (partition.leader_epoch, partition.offline_replicas) == (7, [2])
    described = client.request(
        request_for("describe_topic_partitions", response_partition_limit=10), 0
    )
    [partition] = described.topics[0].partitions
    assert (partition.leader_id, partition.offline_replicas) == (-1, [2])


@pytest.mark.parametrize("version", [9, 10])
def test_a_producer_is_sent_to_the_leader(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    move(kafka, 2, 7)
    response = client.request(produce(), version)
    [[partition]] = [topic.partition_responses for topic in response.responses]
    assert partition.error_code == NOT_LEADER
    if version >= 10:
        leader = partition.current_leader
        assert (leader.leader_id, leader.leader_epoch) == (2, 7)
        assert [(one.node_id, one.host) for one in response.node_endpoints] == [(2, "192.0.2.2")]


def test_a_waiting_fetch_is_sent_to_the_new_leader(kafka: FakeKafka, client: FakeClient) -> None:
    client.send(fetch_by_id(kafka, -1, max_wait_ms=500), 16)
    kafka.scheduler.run_pass()
    move(kafka, 2, 7)
    kafka.scheduler.run()
    [response] = client.responses()
    [[partition]] = [topic.partitions for topic in response.responses]
    assert (partition.error_code, partition.current_leader.leader_id) == (NOT_LEADER, 2)
    assert [one.node_id for one in response.node_endpoints] == [2]


def test_a_new_epoch_shows_consumers_where_the_last_one_ended(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.request(produce(), 9)
    move(kafka, 1, 3)
    response = client.request(fetch_by_id(kafka, 0), 16)
    [[partition]] = [topic.partitions for topic in response.responses]
    assert (partition.error_code, partition.current_leader.leader_epoch) == (FENCED, 3)
    client.request(produce(), 9)
    requested = {"partition": 0, "current_leader_epoch": 3, "leader_epoch": 0}
    topic = {"topic": "t", "partitions": [requested]}
    ends = client.request(request_for("offset_for_leader_epoch", topics=[topic]), 3)
    [[end]] = [topic.partitions for topic in ends.topics]
    assert (end.error_code, end.leader_epoch, end.end_offset) == (0, 0, 1)


def test_members_are_sent_to_the_coordinator(kafka: FakeKafka, client: FakeClient) -> None:
    coordinate_on(kafka, 2)
    [found] = client.request(
        request_for("find_coordinator", coordinator_keys=["g"]), 4
    ).coordinators
    assert (found.node_id, found.host, found.port) == (2, "192.0.2.2", 9094)
    heartbeat = client.request(request_for("heartbeat", group_id="g", member_id="m"), 4)
    assert heartbeat.error_code == NOT_COORDINATOR
