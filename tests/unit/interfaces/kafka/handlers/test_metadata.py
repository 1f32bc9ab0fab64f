from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.handlers.shared.authorized_operations import NOT_REQUESTED
from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.fakes.client import FakeClient, FakeKafka, raw_frame

VERSIONS = range(14)


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


# ---- which topics


@pytest.mark.parametrize("version", VERSIONS[1:])
def test_null_asks_for_all_topics(client: FakeClient, version: int) -> None:
    response = client.ask(MetadataRequest(topics=None), version)
    assert found(response) == [("t", 0, 3), ("u", 0, 1)]


@pytest.mark.parametrize("version", VERSIONS[1:])
def test_an_empty_list_asks_for_none(client: FakeClient, version: int) -> None:
    response = client.ask(MetadataRequest(topics=[]), version)
    assert (response.topics, len(response.brokers)) == ([], 1)


def test_in_version_0_an_empty_list_asks_for_all(client: FakeClient) -> None:
    assert found(client.ask(MetadataRequest(topics=[]), 0)) == [("t", 0, 3), ("u", 0, 1)]


def test_in_version_0_null_closes_the_connection(kafka: FakeKafka, client: FakeClient) -> None:
    client.transport.receive(raw_frame(3, 0, b"\xff\xff\xff\xff"))
    kafka.run()
    assert client.closed


@pytest.mark.parametrize("version", VERSIONS)
def test_topics_are_asked_for_by_name(kafka: FakeKafka, client: FakeClient, version: int) -> None:
    response = client.ask(named("u", "t"), version)
    assert found(response) == [("u", 0, 1), ("t", 0, 3)]
    expected = kafka.existing("u").topic_id if version >= 10 else bytes(16)
    assert response.topics[0].topic_id == expected


@pytest.mark.parametrize("version", [12, 13])
def test_topics_are_asked_for_by_id_from_version_12_on(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    ids = [kafka.existing("u").topic_id, b"\7" * 16]
    wanted = [MetadataRequestTopic(name=None, topic_id=one) for one in ids]
    response = client.ask(MetadataRequest(topics=wanted), version)
    assert found(response) == [("u", 0, 1), (None, 100, 0)]
    assert [one.topic_id for one in response.topics] == ids
    assert kafka.broker.catalog.names() == ["t", "u"]


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize(
    ("name", "topic_id"), [(None, bytes(16)), (None, b"\7" * 16), ("t", b"\7" * 16)]
)
def test_before_that_an_id_or_a_null_name_is_an_invalid_request(
    client: FakeClient, version: int, name: str | None, topic_id: bytes
) -> None:
    wanted = MetadataRequest(topics=[MetadataRequestTopic(name=name, topic_id=topic_id)])
    response = client.ask(wanted, version)
    assert found(response) == [(name or "", 42, 0)]


def test_beside_ids_names_are_not_looked_at_and_an_id_is_answered_once(
    kafka: FakeKafka, client: FakeClient
) -> None:
    by_id = MetadataRequestTopic(name=None, topic_id=kafka.existing("u").topic_id)
    by_name = MetadataRequestTopic(name="t")
    response = client.ask(MetadataRequest(topics=[by_name, by_id, by_id]), 12)
    assert [one.name for one in response.topics] == ["u"]


# ---- auto-creation


@pytest.mark.parametrize("version", VERSIONS)
def test_a_topic_that_is_asked_for_comes_to_be(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    assert found(client.ask(named("new", "t"), version)) == [("new", 0, 2), ("t", 0, 3)]
    assert len(kafka.existing("new").partition_ids) == 2


def test_a_client_may_forbid_it_from_version_4_on(kafka: FakeKafka, client: FakeClient) -> None:
    response = client.ask(named("new", allow_auto_topic_creation=False), 4)
    assert found(response) == [("new", 3, 0)]
    assert kafka.broker.catalog.topic("new") is None


def test_the_broker_may_forbid_it() -> None:
    kafka = FakeKafka(auto_create_topics_enable="false")
    assert found(kafka.client().ask(named("new"), 12)) == [("new", 3, 0)]


@pytest.mark.parametrize("may_create", [True, False])
def test_an_illegal_name_is_code_17(client: FakeClient, may_create: bool) -> None:
    wanted = named("a b", "t", "..", allow_auto_topic_creation=may_create)
    assert found(client.ask(wanted, 12)) == [("a b", 17, 0), ("t", 0, 3), ("..", 17, 0)]


@pytest.mark.parametrize("version", VERSIONS)
def test_an_internal_topic_is_unknown_and_not_created(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    response = client.ask(named("__consumer_offsets", "t"), version)
    assert found(response) == [("__consumer_offsets", 3, 0), ("t", 0, 3)]
    assert [topic.is_internal for topic in response.topics] == [version > 0, False]
    assert kafka.broker.catalog.names() == ["t", "u"]


def test_a_failed_commit_is_code_56_in_that_topic(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next()
    assert found(client.ask(named("new", "t"), 12)) == [("new", 56, 0), ("t", 0, 3)]


# ---- what is told of broker and partitions


@pytest.mark.parametrize("version", VERSIONS)
def test_one_broker_leads_every_partition(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    response = client.ask(named("t"), version)
    ((broker),) = response.brokers
    assert (broker.node_id, broker.host, broker.port) == (5, "192.0.2.1", 9092)
    assert broker.rack == ("r1" if version >= 1 else None)
    assert response.controller_id == (5 if version >= 1 else -1)
    assert response.cluster_id == (kafka.broker.cluster_id if version >= 2 else None)
    for index, partition in enumerate(response.topics[0].partitions):
        assert (partition.partition_index, partition.error_code) == (index, 0)
        assert (partition.leader_id, partition.leader_epoch) == (5, 0 if version >= 7 else -1)
        assert (partition.replica_nodes, partition.isr_nodes) == ([5], [5])
        assert partition.offline_replicas == []


@pytest.mark.parametrize("asked_for", [True, False])
def test_operations_are_told_to_who_asks_for_them(client: FakeClient, asked_for: bool) -> None:
    for version in (8, 9, 10):
        wanted = named(
            "t",
            include_topic_authorized_operations=asked_for,
            include_cluster_authorized_operations=asked_for,
        )
        response = client.ask(wanted, version)
        assert (response.topics[0].topic_authorized_operations != NOT_REQUESTED) == asked_for
        assert (response.cluster_authorized_operations != NOT_REQUESTED) == asked_for
