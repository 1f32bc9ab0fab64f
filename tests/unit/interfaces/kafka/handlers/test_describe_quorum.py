"""Leader, voters and refusals are in tests/oracle."""

from __future__ import annotations

from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.structs import request_for


def test_the_listener_of_the_quorum_is_that_of_the_client(
    kafka: FakeKafka, client: FakeClient
) -> None:
    topic = {"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}
    response = client.request(request_for("describe_quorum", topics=[topic]), 2)
    [node] = response.nodes
    [listener] = node.listeners
    cluster = client.request(request_for("describe_cluster"), 2)
    [broker] = cluster.brokers
    assert (listener.host, listener.port) == (broker.host, broker.port)
    assert listener.name == client.session.client.listener
