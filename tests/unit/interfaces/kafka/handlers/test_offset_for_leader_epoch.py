"""The answers are those of Apache Kafka 4.2 to the same questions."""

from __future__ import annotations

import pytest

from domain.errors import StorageFailed
from interfaces.kafka.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka

VERSIONS = range(2, 5)


def ask(
    client: FakeClient, *partitions: tuple[int, int, int], topic: str = "t", version: int = 4
) -> list[tuple[int, int, int, int]]:
    """Of each: partition, current epoch, wanted epoch."""
    wanted = [
        OffsetForLeaderPartition(partition=index, current_leader_epoch=current, leader_epoch=epoch)
        for index, current, epoch in partitions
    ]
    request = OffsetForLeaderEpochRequest(
        topics=[OffsetForLeaderTopic(topic=topic, partitions=wanted)]
    )
    [answer] = client.ask(request, version).topics
    assert answer.topic == topic
    return [
        (one.error_code, one.partition, one.leader_epoch, one.end_offset)
        for one in answer.partitions
    ]


@pytest.fixture
def client(kafka: FakeKafka) -> FakeClient:
    kafka.topic("t", 2)
    kafka.appended(record_batch(["a", "b", "c"]))
    return kafka.client()


@pytest.mark.parametrize("version", VERSIONS)
def test_the_one_epoch_ends_where_the_log_does(client: FakeClient, version: int) -> None:
    assert ask(client, (1, 0, 0), (0, -1, 0), version=version) == [(0, 1, 0, 0), (0, 0, 0, 3)]


@pytest.mark.parametrize("current", [-1, 0])
def test_of_other_epochs_nothing_is_known(client: FakeClient, current: int) -> None:
    assert ask(client, (0, current, 1), (0, current, 5), (0, current, -1)) == [(0, 0, -1, -1)] * 3


def test_what_came_before_the_first_epoch_ended_at_the_start(client: FakeClient) -> None:
    assert ask(client, (0, -1, -2)) == [(0, 0, -2, 0)]


def test_a_client_with_another_epoch_is_refused(client: FakeClient) -> None:
    assert ask(client, (0, 1, 0), (0, -2, 0)) == [(75, 0, -1, -1), (74, 0, -1, -1)]


def test_a_partition_that_is_not_there_is_refused(client: FakeClient) -> None:
    assert ask(client, (7, -1, 0), (-1, -1, 0)) == [(3, 7, -1, -1), (3, -1, -1, -1)]
    for name in ("absent", "", "a b"):
        assert ask(client, (0, 5, 0), topic=name) == [(3, 0, -1, -1)]


def test_what_is_not_durable_is_not_told(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.hold()
    kafka.append(record_batch(["d"]))
    kafka.run()
    assert ask(client, (0, 0, 0)) == [(0, 0, 0, 3)]
    kafka.commit.let_go()
    assert ask(client, (0, 0, 0)) == [(0, 0, 0, 4)]


def test_a_partition_that_cannot_be_read_is_told_alone(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.partition(index=0)
    kafka.log.failing = StorageFailed("cannot read")
    assert [one[0] for one in ask(client, (0, 0, 0), (1, 0, 0))] == [0, 56]
