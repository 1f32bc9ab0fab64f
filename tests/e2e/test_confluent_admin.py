"""librdkafka's AdminClient."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import OFFSET_END, IsolationLevel, KafkaError, KafkaException, TopicCollection
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic, OffsetSpec

from tests.e2e.broker_process import wait_until
from tests.e2e.conftest import CreateTopic, unused_topic_name
from tests.e2e.librdkafka import (
    PATIENCE_S,
    admin,
    assigned_consumer,
    deliver,
    next_message,
    producer,
    read_values,
)


@pytest.fixture
def client(bootstrap: str) -> AdminClient:
    return admin(bootstrap)


def outcome(futures: dict[Any, Any]) -> Any:
    (future,) = futures.values()
    return future.result(PATIENCE_S)


def refusal(futures: dict[Any, Any]) -> KafkaError:
    with pytest.raises(KafkaException) as refused:
        outcome(futures)
    error: KafkaError = refused.value.args[0]
    return error


def partitions_of(client: AdminClient, topic: str) -> int:
    found = client.list_topics(topic, timeout=PATIENCE_S).topics[topic]
    assert found.error is None, found.error
    return len(found.partitions)


def test_records_are_deleted_up_to_an_offset(
    client: AdminClient, bootstrap: str, topic: str
) -> None:
    deliver(producer(bootstrap), topic, b"a", b"b", b"c")
    for offset, low in [(2, 2), (1, 2), (OFFSET_END, 3)]:
        found = outcome(client.delete_records([Place(topic, 0, offset)]))
        assert (offset, found.low_watermark) == (offset, low)
    refused = refusal(client.delete_records([Place(topic, 0, 4)]))
    assert refused.code() == KafkaError.OFFSET_OUT_OF_RANGE
    deliver(producer(bootstrap), topic, b"d")
    with assigned_consumer(bootstrap, topic, auto_offset_reset="earliest") as consumer:
        assert next_message(consumer).value() == b"d"


def test_a_topic_is_created_listed_and_deleted(client: AdminClient) -> None:
    name = unused_topic_name()
    new = NewTopic(name, 3, 1, config={"retention.ms": "60000", "cleanup.policy": "delete"})
    assert outcome(client.create_topics([new])) is None
    assert partitions_of(client, name) == 3
    assert name in client.list_topics(timeout=PATIENCE_S).topics
    assert outcome(client.delete_topics([name])) is None
    assert name not in client.list_topics(timeout=PATIENCE_S).topics


def test_validate_only_creates_nothing(client: AdminClient) -> None:
    name = unused_topic_name()
    assert outcome(client.create_topics([NewTopic(name, 1, 1)], validate_only=True)) is None
    assert name not in client.list_topics(timeout=PATIENCE_S).topics


def test_without_a_partition_count_the_default_applies(client: AdminClient) -> None:
    name = unused_topic_name()
    assert outcome(client.create_topics([NewTopic(name)])) is None
    assert partitions_of(client, name) == 1


@pytest.mark.parametrize(
    ("new", "code"),
    [
        (NewTopic("no spaces", 1, 1), KafkaError.TOPIC_EXCEPTION),
        (NewTopic("x" * 250, 1, 1), KafkaError.TOPIC_EXCEPTION),
        (NewTopic("..", 1, 1), KafkaError.TOPIC_EXCEPTION),
        (NewTopic("story-refused", 0, 1), KafkaError.INVALID_PARTITIONS),
        (NewTopic("story-refused", 1, 9), KafkaError.INVALID_REPLICATION_FACTOR),
        (NewTopic("story-refused", 1, 1, config={"no.such": "1"}), KafkaError.INVALID_CONFIG),
        (
            NewTopic("story-refused", 1, 1, config={"retention.ms": "soon"}),
            KafkaError.INVALID_CONFIG,
        ),
    ],
    ids=["spaces", "long", "dots", "partitions", "replication", "unknown-config", "bad-config"],
)
def test_an_invalid_topic_is_refused(client: AdminClient, new: NewTopic, code: int) -> None:
    assert refusal(client.create_topics([new])).code() == code


def test_a_topic_cannot_be_created_twice(client: AdminClient, topic: str) -> None:
    error = refusal(client.create_topics([NewTopic(topic, 1, 1)]))
    assert error.code() == KafkaError.TOPIC_ALREADY_EXISTS
    assert topic in error.str()


def test_a_topic_can_have_a_replica_assignment(client: AdminClient) -> None:
    name = unused_topic_name()
    node = next(iter(client.list_topics(timeout=PATIENCE_S).brokers))
    assert (
        outcome(client.create_topics([NewTopic(name, 2, replica_assignment=[[node]] * 2)])) is None
    )
    assert partitions_of(client, name) == 2


def test_partitions_are_added_and_used(bootstrap: str, client: AdminClient, topic: str) -> None:
    assert outcome(client.create_partitions([NewPartitions(topic, 4)])) is None
    each = [admin(address) for address in bootstrap.split(",")]
    wait_until(lambda: all(partitions_of(one, topic) == 4 for one in each))
    assert not deliver(producer(bootstrap), topic, b"new room", partition=3).errors
    assert read_values(bootstrap, topic, 1, partition=3) == [b"new room"]


def test_partitions_cannot_be_removed(client: AdminClient, create_topic: CreateTopic) -> None:
    error = refusal(client.create_partitions([NewPartitions(create_topic(3), 2)]))
    assert error.code() == KafkaError.INVALID_PARTITIONS


def test_deleting_an_unknown_topic_is_an_error(client: AdminClient) -> None:
    error = refusal(client.delete_topics([unused_topic_name()]))
    assert error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART


def test_a_topic_deleted_and_created_again_is_empty(
    bootstrap: str, client: AdminClient, topic: str
) -> None:
    deliver(producer(bootstrap), topic, b"old", b"older")
    outcome(client.delete_topics([topic]))
    outcome(client.create_topics([NewTopic(topic, 1, 1)]))
    deliver(producer(bootstrap), topic, b"new")
    assert read_values(bootstrap, topic, 1) == [b"new"]


def test_the_cluster_is_described(bootstrap: str, client: AdminClient) -> None:
    cluster = client.describe_cluster(request_timeout=PATIENCE_S).result(PATIENCE_S)
    assert {f"{node.host}:{node.port}" for node in cluster.nodes} == set(bootstrap.split(","))
    assert cluster.controller.id in {node.id for node in cluster.nodes}
    assert len(cluster.cluster_id) == 22


def test_a_topic_is_described_with_its_id(client: AdminClient, create_topic: CreateTopic) -> None:
    name = create_topic(2)
    found = outcome(client.describe_topics(TopicCollection([name])))
    assert (found.name, found.is_internal, len(found.partitions)) == (name, False, 2)
    assert str(found.topic_id) not in ("", "AAAAAAAAAAAAAAAAAAAAAA")
    assert all(len(p.replicas) == len(p.isr) == 1 and p.leader for p in found.partitions)


def test_offsets_are_listed_by_each_spec(bootstrap: str, client: AdminClient, topic: str) -> None:
    sender = producer(bootstrap)
    for number in (1, 3, 2):
        deliver(sender, topic, b"x", timestamp=1_600_000_000_000 + number)
    expected = [
        (OffsetSpec.earliest(), 0),
        (OffsetSpec.latest(), 3),
        (OffsetSpec.for_timestamp(1_600_000_000_002), 1),
        (OffsetSpec.max_timestamp(), 1),
    ]
    for spec, offset in expected:
        found = outcome(client.list_offsets({Place(topic, 0): spec}))
        assert (spec, found.offset) == (spec, offset)
    committed = IsolationLevel.READ_COMMITTED
    latest = {Place(topic, 0): OffsetSpec.latest()}
    assert outcome(client.list_offsets(latest, isolation_level=committed)).offset == 3
