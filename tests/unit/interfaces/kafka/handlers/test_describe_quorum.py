"""Leader, voters and refusals are in tests/oracle."""

from __future__ import annotations

from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.cluster_producer import ask
from tests.fakes.shared_store import SharedStore
from tests.fakes.structs import request_for

METADATA_LOG = {"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}


def test_the_listener_of_the_quorum_is_that_of_the_client(
    kafka: FakeKafka, client: FakeClient
) -> None:
    response = client.request(request_for("describe_quorum", topics=[METADATA_LOG]), 2)
    [node] = response.nodes
    [listener] = node.listeners
    cluster = client.request(request_for("describe_cluster"), 2)
    [broker] = cluster.brokers
    assert (listener.host, listener.port) == (broker.host, broker.port)
    assert listener.name == client.session.client.listener


def test_the_next_controller_has_the_same_epoch() -> None:
    shared = SharedStore()
    for node_id in (1, 2):
        shared.start(node_id)

    def described() -> tuple[int, int]:
        request = request_for("describe_quorum", topics=[METADATA_LOG])
        [topic] = ask(shared.brokers[2], request, 2).topics
        [partition] = topic.partitions
        return partition.leader_id, partition.leader_epoch

    assert described() == (1, 1)
    shared.kill(1)
    shared.fence(1)
    assert described() == (2, 1)
