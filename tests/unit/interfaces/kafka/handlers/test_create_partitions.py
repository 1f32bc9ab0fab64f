from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.topic_requests import codes, create, new


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
    assert kafka.partition("t", 2).end.next_offset == 0


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
    topic = kafka.existing()
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
