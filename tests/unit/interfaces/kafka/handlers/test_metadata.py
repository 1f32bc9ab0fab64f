from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.fakes.client import FakeClient, FakeKafka


def named(*names: str | None, **facts: Any) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names], **facts)


def found(response: Any) -> list[tuple[str | None, int, int]]:
    return [(topic.name, topic.error_code, len(topic.partitions)) for topic in response.topics]


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka(num_partitions="2", node_id="5", broker_rack="r1")
    kafka.topic("t", 3)
    kafka.topic("u", 1)
    return kafka


# ---- requested topics


@pytest.mark.parametrize("version", [0, 1, 9, 13])
def test_null_topics_are_all_and_an_empty_list_is_none(client: FakeClient, version: int) -> None:
    """Version 0 has no null: its empty list means all."""
    every = MetadataRequest(topics=[] if version == 0 else None)
    assert found(client.request(every, version)) == [("t", 0, 3), ("u", 0, 1)]
    if version:
        response = client.request(MetadataRequest(topics=[]), version)
        assert (response.topics, len(response.brokers)) == ([], 1)


@pytest.mark.parametrize("version", [0, 1, 2, 7, 9, 10, 13])
def test_a_response_has_the_topics_in_their_order_the_leaders_and_the_broker(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    response = client.request(named("u", "t"), version)
    assert found(response) == [("u", 0, 1), ("t", 0, 3)]
    expected = kafka.existing("u").topic_id if version >= 10 else bytes(16)
    assert response.topics[0].topic_id == expected
    for index, partition in enumerate(response.topics[1].partitions):
        assert (partition.partition_index, partition.error_code) == (index, 0)
        assert (partition.leader_id, partition.leader_epoch) == (5, 0 if version >= 7 else -1)
        assert (partition.replica_nodes, partition.isr_nodes) == ([5], [5])
        assert partition.offline_replicas == []
    (broker,) = response.brokers
    assert (broker.node_id, broker.host, broker.port) == (5, "192.0.2.1", 9092)
    assert broker.rack == ("r1" if version >= 1 else None)
    assert response.controller_id == (5 if version >= 1 else -1)
    assert response.cluster_id == (kafka.broker.cluster_id if version >= 2 else None)


@pytest.mark.parametrize(
    ("name", "topic_id"), [(None, bytes(16)), (None, b"\7" * 16), ("t", b"\7" * 16)]
)
def test_before_version_12_an_id_or_a_null_name_is_an_invalid_request(
    client: FakeClient, name: str | None, topic_id: bytes
) -> None:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name, topic_id=topic_id)])
    for version in (10, 11):
        assert found(client.request(request, version)) == [(name or "", 42, 0)]


# ---- auto-creation


@pytest.mark.parametrize("version", [0, 3, 4, 13])
def test_an_unknown_topic_is_created(kafka: FakeKafka, client: FakeClient, version: int) -> None:
    assert found(client.request(named("new", "t"), version)) == [("new", 0, 2), ("t", 0, 3)]
    assert len(kafka.existing("new").partition_ids) == 2


def test_clients_from_version_4_on_and_the_broker_can_forbid_creation(
    kafka: FakeKafka, client: FakeClient
) -> None:
    response = client.request(named("new", allow_auto_topic_creation=False), 4)
    assert found(response) == [("new", 3, 0)]
    assert kafka.broker.catalog.topic("new") is None
    other = FakeKafka(auto_create_topics_enable="false").client()
    assert found(other.request(named("new"), 12)) == [("new", 3, 0)]


@pytest.mark.parametrize("version", [0, 1, 13])
def test_an_internal_topic_is_unknown_and_not_created(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    response = client.request(named("__consumer_offsets", "t"), version)
    assert found(response) == [("__consumer_offsets", 3, 0), ("t", 0, 3)]
    assert [topic.is_internal for topic in response.topics] == [version > 0, False]
    assert kafka.broker.catalog.names() == ["t", "u"]
