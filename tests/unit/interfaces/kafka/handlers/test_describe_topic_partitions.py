"""What is expected of limits and cursors is what Kafka 4.2 answers to the same requests."""

from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from tests.fakes.client import FakeClient, FakeKafka

Page = tuple[list[tuple[str, int, list[int]]], tuple[str, int] | None]


def ask(
    client: FakeClient, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None
) -> Page:
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=None if cursor is None else Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )
    response: Any = client.ask(request, 0)
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


def test_topics_come_in_the_order_of_their_names(client: FakeClient) -> None:
    everything = ([("a", 0, [0, 1]), ("b", 0, [0, 1, 2])], None)
    assert ask(client, "b", "a", "b") == everything
    assert ask(client) == everything


@pytest.mark.parametrize(
    ("limit", "page"),
    [
        (-1, ([("a", 0, [0])], ("a", 1))),
        (0, ([("a", 0, [0])], ("a", 1))),
        (1, ([("a", 0, [0])], ("a", 1))),
        (2, ([("a", 0, [0, 1])], ("b", 0))),
        (3, ([("a", 0, [0, 1]), ("b", 0, [0])], ("b", 1))),
        (4, ([("a", 0, [0, 1]), ("b", 0, [0, 1])], ("b", 2))),
        (5, ([("a", 0, [0, 1]), ("b", 0, [0, 1, 2])], None)),
    ],
)
def test_a_page_ends_where_the_limit_is_reached(client: FakeClient, limit: int, page: Page) -> None:
    assert ask(client, limit=limit) == page


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_all_pages_together_are_everything_once(client: FakeClient, limit: int) -> None:
    seen: list[tuple[str, int]] = []
    cursor: tuple[str, int] | None = None
    while True:
        topics, cursor = ask(client, limit=limit, cursor=cursor)
        seen += [(name, index) for name, _, indexes in topics for index in indexes]
        if cursor is None:
            break
    assert seen == [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("b", 2)]


def test_a_full_page_tells_of_no_unknown_topic_either(client: FakeClient) -> None:
    assert ask(client, "a", "aa", limit=3) == ([("a", 0, [0, 1]), ("aa", 3, [])], None)
    assert ask(client, "a", "aa", limit=2) == ([("a", 0, [0, 1])], ("aa", 0))
    assert ask(client, "a", "aa", limit=2, cursor=("aa", 0)) == ([("aa", 3, [])], None)


def test_the_broker_has_a_limit_of_its_own() -> None:
    kafka = FakeKafka(max_request_partition_size_limit="2")
    kafka.topic("a", 3)
    assert ask(kafka.client()) == ([("a", 0, [0, 1])], ("a", 2))


def test_a_cursor_may_name_what_is_not_there_any_more(kafka: FakeKafka, client: FakeClient) -> None:
    assert ask(client, "a", "b", cursor=("a", 7)) == ([("a", 0, []), ("b", 0, [0, 1, 2])], None)
    assert ask(client, cursor=("aa", 1)) == ([("b", 0, [0, 1, 2])], None)


def test_a_cursor_that_contradicts_the_request_is_refused(client: FakeClient) -> None:
    refused = ([("b", 42, []), ("a", 42, [])], None)
    assert ask(client, "b", "a", cursor=("a", -1)) == refused
    assert ask(client, "b", "a", cursor=("aa", 0)) == refused


def test_a_page_ends_before_an_unknown_topic_as_well(client: FakeClient) -> None:
    assert ask(client, "a", "b", "zz", limit=5)[1] == ("zz", 0)
    assert ask(client, "a", "b", "zz", limit=6) == (
        [("a", 0, [0, 1]), ("b", 0, [0, 1, 2]), ("zz", 3, [])],
        None,
    )


def test_unknown_and_illegal_topics_have_their_code(client: FakeClient) -> None:
    expected = ([("a", 0, [0, 1]), ("a b", 17, []), ("zz", 3, [])], None)
    assert ask(client, "zz", "a b", "a") == expected


def test_a_name_of_kafkas_own_is_an_internal_topic_that_is_unknown(client: FakeClient) -> None:
    request = DescribeTopicPartitionsRequest(topics=[TopicRequest(name="__consumer_offsets")])
    (topic,) = client.ask(request, 0).topics
    assert (topic.error_code, topic.is_internal) == (3, True)


def test_one_broker_holds_every_partition(kafka: FakeKafka, client: FakeClient) -> None:
    request = DescribeTopicPartitionsRequest(topics=[TopicRequest(name="a")], cursor=None)
    (topic,) = client.ask(request, 0).topics
    known = kafka.existing("a")
    assert (topic.topic_id, topic.is_internal) == (known.topic_id, False)
    for partition in topic.partitions:
        assert (partition.leader_id, partition.leader_epoch) == (5, 0)
        assert (partition.replica_nodes, partition.isr_nodes) == ([5], [5])
        assert (partition.eligible_leader_replicas, partition.last_known_elr) == ([], [])
