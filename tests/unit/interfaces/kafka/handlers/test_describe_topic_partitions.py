from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.schema import Request
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.structs import request_for

Place = tuple[str, int]
Page = tuple[list[tuple[str, int, list[int]]], Place | None]


def request(*names: str, limit: int = 2000, cursor: Place | None = None) -> Request:
    return request_for(
        "describe_topic_partitions",
        topics=[{"name": name} for name in names],
        response_partition_limit=limit,
        cursor=None if cursor is None else {"topic_name": cursor[0], "partition_index": cursor[1]},
    )


def describe(
    client: FakeClient, *names: str, limit: int = 2000, cursor: Place | None = None
) -> Page:
    response: Any = client.request(request(*names, limit=limit, cursor=cursor), 0)
    topics = [
        (topic.name, topic.error_code, [one.partition_index for one in topic.partitions])
        for topic in response.topics
    ]
    after = response.next_cursor
    return topics, None if after is None else (after.topic_name, after.partition_index)


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka(node_id="5")
    kafka.topic("b", 3)
    kafka.topic("a", 2)
    return kafka


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_all_pages_together_have_each_partition_once(client: FakeClient, limit: int) -> None:
    seen: list[Place] = []
    cursor: Place | None = ("a", 0)
    while cursor is not None:
        topics, cursor = describe(client, limit=limit, cursor=cursor)
        seen += [(name, index) for name, _, indexes in topics for index in indexes]
    assert seen == [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("b", 2)]
    assert describe(client, cursor=("aa", 1)) == ([("b", 0, [0, 1, 2])], None), "a deleted topic"


def test_a_setting_limits_the_page() -> None:
    kafka = FakeKafka(max_request_partition_size_limit="2")
    kafka.topic("a", 3)
    assert describe(kafka.client()) == ([("a", 0, [0, 1])], ("a", 2))


def test_this_node_leads_every_partition_and_internal_topics_are_unknown(
    kafka: FakeKafka, client: FakeClient
) -> None:
    internal, topic = client.request(request("a", "__consumer_offsets"), 0).topics
    assert (internal.error_code, internal.is_internal) == (3, True)
    assert (topic.topic_id, topic.is_internal) == (kafka.existing("a").topic_id, False)
    for partition in topic.partitions:
        assert (partition.leader_id, partition.leader_epoch) == (5, 0)
        assert (partition.replica_nodes, partition.isr_nodes) == ([5], [5])
        assert (partition.eligible_leader_replicas, partition.last_known_elr) == ([], [])
