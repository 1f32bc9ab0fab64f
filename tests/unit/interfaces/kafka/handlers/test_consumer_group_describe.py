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
from tests.unit.interfaces.kafka.handlers.test_consumer_group_heartbeat import ask


def describe(client: FakeClient, *groups: str, version: int = 1, **fields: Any) -> Any:
    request = ConsumerGroupDescribeRequest(group_ids=list(groups), **fields)
    response: ConsumerGroupDescribeResponse = client.ask(request, version)
    return response.groups


@pytest.mark.parametrize("version", [0, 1])
def test_a_group_is_described_with_its_members(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    """Version 0 has no type of members."""
    topic = kafka.topic("t", 2)
    ask(client, "m", 0, instance_id="i", rack_id="r", server_assignor="range")
    ask(client, "n", 0, subscribed_topic_names=["u", "t"], subscribed_topic_regex="x.*")

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


@pytest.mark.parametrize("version", [0, 1])
def test_each_group_has_its_own_error_code(client: FakeClient, version: int) -> None:
    ask(client, "m", 0)
    found = describe(client, "x", "g", "", version=version)
    assert [(one.group_id, one.error_code) for one in found] == [("x", 69), ("g", 0), ("", 24)]


def test_an_empty_group_has_its_epochs(client: FakeClient) -> None:
    ask(client, "m", 0)
    ask(client, "m", -1)
    [group] = describe(client, "g")
    assert (group.group_state, group.group_epoch, group.assignment_epoch) == ("Empty", 2, 1)
    assert group.assignor_name == "uniform"


def test_authorized_operations_are_included_on_request(client: FakeClient) -> None:
    ask(client, "m", 0)
    [group] = describe(client, "g", include_authorized_operations=True)
    assert group.authorized_operations == 3400
    assert describe(client, "g")[0].authorized_operations == -(2**31)


def test_a_deleted_topic_is_not_in_an_assignment(kafka: FakeKafka, client: FakeClient) -> None:
    topic = kafka.topic("t", 1)
    ask(client, "m", 0)
    kafka.broker.catalog.remove(topic)
    [group] = describe(client, "g")
    assert group.members[0].assignment.topic_partitions == []
