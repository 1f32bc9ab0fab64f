"""CreateTopics, DeleteTopics and CreatePartitions as a client sees them."""

from __future__ import annotations

from typing import Any

import pytest

from domain.configs.topic import TOPIC_CONFIGS
from interfaces.kafka.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from interfaces.kafka.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from interfaces.kafka.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.fakes.client import FakeClient, FakeKafka


def new(
    name: str,
    partitions: int = 1,
    replicas: int = 1,
    assignments: dict[int, list[int]] | None = None,
    **configs: str | None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in (assignments or {}).items()
        ],
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


def create(
    client: FakeClient, *topics: CreatableTopic, version: int = 7, only: bool = False
) -> Any:
    request = CreateTopicsRequest(topics=list(topics), validate_only=only)
    return client.ask(request, version).topics


def codes(results: Any) -> list[tuple[str | None, int]]:
    return [(one.name, one.error_code) for one in results]


@pytest.fixture
def kafka() -> FakeKafka:
    return FakeKafka(num_partitions="4")


@pytest.fixture
def client(kafka: FakeKafka) -> FakeClient:
    return kafka.client()


def topic_id(kafka: FakeKafka, name: str) -> bytes:
    topic = kafka.broker.catalog.topic(name)
    assert topic is not None
    return topic.topic_id


# ---- CreateTopics


@pytest.mark.parametrize("version", range(2, 8))
def test_a_topic_is_created_and_described(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    wanted = new("t", -1, -1, retention_ms="77")
    (created,) = create(client, wanted, version=version)
    assert (created.name, created.error_code, created.error_message) == ("t", 0, None)
    assert created.topic_id == (topic_id(kafka, "t") if version >= 7 else bytes(16))
    if version < 5:
        return
    assert (created.num_partitions, created.replication_factor) == (4, 1)
    configs = {one.name: (one.value, one.config_source) for one in created.configs}
    assert configs.keys() == TOPIC_CONFIGS.keys()
    assert configs["retention.ms"] == ("77", 1)
    assert configs["cleanup.policy"] == ("delete", 5)


def test_what_is_only_validated_has_no_id(kafka: FakeKafka, client: FakeClient) -> None:
    created, refused = create(client, new("t", 3), new("a b"), only=True)
    assert (created.error_code, created.topic_id, created.num_partitions) == (0, bytes(16), 3)
    assert refused.error_code == 17
    assert len(kafka.broker.catalog) == 0


def test_each_refusal_has_its_code(client: FakeClient) -> None:
    create(client, new("there"), new("a.b"))
    results = create(
        client,
        new("a/b"),
        new("there"),
        new("a_b"),
        new("p", 0),
        new("r", 1, 2),
        new("assigned", 2, -1, {0: [1]}),
        new("gap", -1, -1, {1: [1]}),
        new("config", nope="1"),
        new("value", retention_ms="soon"),
    )
    assert [code for _, code in codes(results)] == [17, 36, 17, 37, 38, 42, 39, 40, 40]
    assert all(one.error_message for one in results)
    assert codes(create(client, new("x", 10_000), new("y", 1))) == [("x", 44), ("y", 44)]


def test_a_name_that_comes_twice_is_refused_once_and_not_made(
    kafka: FakeKafka, client: FakeClient
) -> None:
    results = create(client, new("t", 1), new("u", 1), new("t", 2))
    assert sorted(codes(results)) == [("t", 42), ("u", 0)]
    assert kafka.broker.catalog.names() == ["u"]


def test_of_two_clients_in_one_pass_one_creates_the_topic(kafka: FakeKafka) -> None:
    first, second = kafka.client(), kafka.client()
    for client in (first, second):
        client.send(CreateTopicsRequest(topics=[new("t", 2)]), 7)
    kafka.run()
    assert [one.answers()[0].topics[0].error_code for one in (first, second)] == [0, 36]


def test_a_failed_commit_is_code_56(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next("no space left")
    results = create(client, new("t"), new("a b"))
    assert sorted(codes(results)) == [("a b", 17), ("t", 56)]
    assert codes(create(client, new("t"))) == [("t", 0)]


# ---- DeleteTopics


def delete(client: FakeClient, *names: str, version: int = 5) -> Any:
    if version >= 6:
        return delete_states(client, *(DeleteTopicState(name=name) for name in names))
    return client.ask(DeleteTopicsRequest(topic_names=list(names)), version).responses


def delete_states(client: FakeClient, *states: DeleteTopicState) -> Any:
    return client.ask(DeleteTopicsRequest(topics=list(states)), 6).responses


@pytest.mark.parametrize("version", range(1, 7))
def test_topics_are_deleted_by_name(kafka: FakeKafka, client: FakeClient, version: int) -> None:
    create(client, new("t"), new("u"))
    gone = topic_id(kafka, "t")
    results = delete(client, "t", "nope", version=version)
    assert sorted(codes(results)) == [("nope", 3), ("t", 0)]
    assert kafka.broker.catalog.names() == ["u"]
    if version >= 6:
        (deleted,) = (one for one in results if one.name == "t")
        assert deleted.topic_id == gone


def test_topics_are_deleted_by_id(kafka: FakeKafka, client: FakeClient) -> None:
    create(client, new("t"), new("u"))
    known, unknown = topic_id(kafka, "t"), b"\7" * 16
    states = [DeleteTopicState(name=None, topic_id=one) for one in (known, unknown)]
    results = delete_states(client, *states)
    assert [(r.name, r.topic_id, r.error_code) for r in results] == [
        ("t", known, 0),
        (None, unknown, 100),
    ]
    assert kafka.broker.catalog.names() == ["u"]


def test_a_topic_is_named_either_by_name_or_by_id(kafka: FakeKafka, client: FakeClient) -> None:
    create(client, new("t"))
    both = DeleteTopicState(name="t", topic_id=topic_id(kafka, "t"))
    results = delete_states(client, both, DeleteTopicState(name=None))
    assert [one.error_code for one in results] == [42, 42]
    assert kafka.broker.catalog.names() == ["t"]


@pytest.mark.parametrize("version", [5, 6])
def test_a_name_that_comes_twice_is_refused_once_and_not_deleted(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    create(client, new("t"), new("u"))
    results = delete(client, "t", "u", "t", version=version)
    assert sorted(codes(results)) == [("t", 42), ("u", 0)]
    assert kafka.broker.catalog.names() == ["t"]


def test_a_topic_named_by_name_and_by_id_is_not_deleted(
    kafka: FakeKafka, client: FakeClient
) -> None:
    create(client, new("t"))
    by_name = DeleteTopicState(name="t")
    by_id = DeleteTopicState(name=None, topic_id=topic_id(kafka, "t"))
    for states in ((by_name, by_id), (by_id, by_id)):
        results = delete_states(client, *states)
        assert {one.error_code for one in results} == {42}
    assert kafka.broker.catalog.names() == ["t"]


def test_where_topics_may_not_be_deleted_they_are_not() -> None:
    kafka = FakeKafka(delete_topic_enable="false")
    client = kafka.client()
    create(client, new("t"))
    assert codes(delete(client, "t")) == [("t", 73)]


def test_a_failed_deletion_is_code_56(kafka: FakeKafka, client: FakeClient) -> None:
    create(client, new("t"))
    kafka.commit.fail_next()
    assert codes(delete(client, "t", "nope")) == [("t", 56), ("nope", 3)]
    assert codes(delete(client, "t")) == [("t", 0)]


def test_deleting_and_creating_again_is_one_after_the_other(
    kafka: FakeKafka, client: FakeClient
) -> None:
    create(client, new("t"))
    old = topic_id(kafka, "t")
    client.send(DeleteTopicsRequest(topic_names=["t"]), 5)
    client.send(CreateTopicsRequest(topics=[new("t", 2)]), 7)
    kafka.run()
    deleted, created = client.answers()
    assert (deleted.responses[0].error_code, created.topics[0].error_code) == (0, 0)
    assert topic_id(kafka, "t") != old


# ---- CreatePartitions


def more(name: str, count: int, *brokers: list[int]) -> CreatePartitionsTopic:
    assignments = [CreatePartitionsAssignment(broker_ids=one) for one in brokers] or None
    return CreatePartitionsTopic(name=name, count=count, assignments=assignments)


def grow(
    client: FakeClient, *topics: CreatePartitionsTopic, version: int = 3, only: bool = False
) -> Any:
    request = CreatePartitionsRequest(topics=list(topics), validate_only=only)
    return client.ask(request, version).results


@pytest.mark.parametrize("version", range(4))
def test_a_topic_grows(kafka: FakeKafka, client: FakeClient, version: int) -> None:
    create(client, new("t", 1))
    assert codes(grow(client, more("t", 3), version=version)) == [("t", 0)]
    assert kafka.partition("t", 2).next_offset == 0


def test_each_refusal_to_grow_has_its_code(kafka: FakeKafka, client: FakeClient) -> None:
    create(client, new("a", 2), new("b", 2), new("c", 2), new("d", 2), new("e", 2))
    results = grow(
        client,
        more("a", 2),
        more("b", 1),
        more("c", 4, [1]),
        more("d", 3, [9]),
        more("e", 3, [1]),
        more("nope", 3),
    )
    assert sorted(codes(results)) == [
        ("a", 37), ("b", 37), ("c", 39), ("d", 39), ("e", 0), ("nope", 3)
    ]  # fmt: skip
    assert codes(grow(client, more("a", 20_000))) == [("a", 44)]


def test_growing_may_be_validated_only(kafka: FakeKafka, client: FakeClient) -> None:
    create(client, new("t", 1))
    assert codes(grow(client, more("t", 3), only=True)) == [("t", 0)]
    topic = kafka.broker.catalog.topic("t")
    assert topic is not None
    assert len(topic.partition_ids) == 1


def test_a_name_that_comes_twice_does_not_grow(kafka: FakeKafka, client: FakeClient) -> None:
    create(client, new("t", 1), new("u", 1))
    results = grow(client, more("t", 2), more("u", 2), more("t", 3))
    assert sorted(codes(results)) == [("t", 42), ("u", 0)]


def test_growing_fails_with_its_commit(kafka: FakeKafka, client: FakeClient) -> None:
    create(client, new("t", 1))
    kafka.commit.fail_next()
    assert codes(grow(client, more("t", 2))) == [("t", 56)]
    assert codes(grow(client, more("t", 2))) == [("t", 0)]
