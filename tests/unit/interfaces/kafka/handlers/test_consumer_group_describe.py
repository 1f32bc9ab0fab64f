from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)
from tests.fakes.client import FakeClient, FakeKafka
from tests.unit.interfaces.kafka.handlers.test_consumer_group_heartbeat import heartbeat


def describe(client: FakeClient, *groups: str, version: int = 1, **fields: Any) -> Any:
    request = ConsumerGroupDescribeRequest(group_ids=list(groups), **fields)
    response: ConsumerGroupDescribeResponse = client.request(request, version)
    return response.groups


@pytest.mark.parametrize("version", [0, 1])
def test_a_group_is_described_with_its_members(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    """Version 0 has no type of members."""
    topic = kafka.topic("t", 2)
    heartbeat(client, "m", 0, instance_id="i", rack_id="r", server_assignor="range")
    heartbeat(client, "n", 0, subscribed_topic_names=["u", "t"], subscribed_topic_regex="x.*")

    def at(*partitions: int) -> Assignment:
        assigned = TopicPartitions(
            topic_id=topic.topic_id, topic_name="t", partitions=list(partitions)
        )
        return Assignment(topic_partitions=[assigned])

    client_fields = {"client_id": "a-client", "client_host": "/192.0.2.7"}
    first = Member(
        member_id="m",
        instance_id="i",
        rack_id="r",
        member_epoch=1,
        subscribed_topic_names=["t"],
        subscribed_topic_regex="",
        assignment=at(0, 1),
        target_assignment=at(0),
        member_type=1 if version >= 1 else -1,
        **client_fields,
    )
    second = Member(
        member_id="n",
        member_epoch=2,
        subscribed_topic_names=["t", "u"],
        subscribed_topic_regex="x.*",
        target_assignment=at(1),
        member_type=1 if version >= 1 else -1,
        **client_fields,
    )
    group = DescribedGroup(
        group_id="g",
        group_state="Reconciling",
        group_epoch=2,
        assignment_epoch=2,
        assignor_name="range",
        members=[first, second],
    )
    assert describe(client, "g", version=version) == [group]


def test_a_deleted_topic_is_not_in_an_assignment(kafka: FakeKafka, client: FakeClient) -> None:
    topic = kafka.topic("t", 1)
    heartbeat(client, "m", 0)
    kafka.broker.catalog.remove(topic)
    [group] = describe(client, "g")
    assert group.members[0].assignment.topic_partitions == []
