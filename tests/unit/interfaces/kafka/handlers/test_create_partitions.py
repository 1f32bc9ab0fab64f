from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.topic_requests import codes


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    kafka.topic("u", 2)
    return kafka


def ask(
    client: FakeClient,
    *topics: tuple[str, int, list[int] | None],
    version: int = 3,
    only: bool = False,
) -> Any:
    """Topics with their new count and the broker of the new partition."""
    requested = [
        CreatePartitionsTopic(
            name=name,
            count=count,
            assignments=brokers and [CreatePartitionsAssignment(broker_ids=brokers)],
        )
        for name, count, brokers in topics
    ]
    request = CreatePartitionsRequest(topics=requested, validate_only=only)
    return codes(client.ask(request, version).results)


@pytest.mark.parametrize("version", [0, 3])
def test_partitions_are_created_unless_the_request_is_validated_only(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    assert ask(client, ("t", 4, None), version=version, only=True) == [("t", 0)]
    assert len(kafka.existing().partition_ids) == 2
    assert ask(client, ("t", 4, None), version=version) == [("t", 0)]
    assert kafka.partition("t", 3).end.next_offset == 0


@pytest.mark.parametrize(
    ("name", "count", "brokers", "code"),
    [
        *(("t", 2, None, 37), ("t", 1, None, 37), ("t", 4, [1], 39), ("t", 3, [9], 39)),
        *(("t", 3, [1], 0), ("absent", 3, None, 3)),
    ],
)
def test_each_topic_has_its_own_code(
    client: FakeClient, name: str, count: int, brokers: list[int] | None, code: int
) -> None:
    assert sorted(ask(client, (name, count, brokers), ("u", 3, None))) == sorted(
        [(name, code), ("u", 0)]
    )


def test_a_topic_that_appears_twice_is_refused_and_one_that_is_too_large(
    client: FakeClient,
) -> None:
    twice = ask(client, ("t", 3, None), ("u", 3, None), ("t", 4, None))
    assert sorted(twice) == [("t", 42), ("u", 0)]
    assert ask(client, ("t", 20_000, None)) == [("t", 44)]


def test_a_failed_commit_is_code_56(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next()
    assert ask(client, ("t", 3, None)) == [("t", 56)]
    assert ask(client, ("t", 3, None)) == [("t", 0)]
