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
from interfaces.kafka.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from tests.fakes.client import FakeClient, FakeKafka


def beat(client: FakeClient, member_id: str, epoch: int = 0, **said: Any) -> None:
    if epoch == 0:
        said = {"rebalance_timeout_ms": 60_000, "topic_partitions": []} | said
        said.setdefault("subscribed_topic_names", ["t"])
    request = ConsumerGroupHeartbeatRequest(
        group_id="g", member_id=member_id, member_epoch=epoch, **said
    )
    assert client.ask(request, 1).error_code == 0


def describe(client: FakeClient, *groups: str, version: int = 1, **said: Any) -> Any:
    response: ConsumerGroupDescribeResponse = client.ask(
        ConsumerGroupDescribeRequest(group_ids=list(groups), **said), version
    )
    return response.groups


def test_everything_is_told(kafka: FakeKafka, client: FakeClient) -> None:
    topic = kafka.topic("t", 2)
    beat(client, "m", instance_id="i", rack_id="r", server_assignor="range")
    beat(client, "n", subscribed_topic_names=["u", "t"], subscribed_topic_regex="x.*")

    def at(*partitions: int) -> Assignment:
        return Assignment(
            topic_partitions=[
                TopicPartitions(
                    topic_id=topic.topic_id, topic_name="t", partitions=list(partitions)
                )
            ]
        )

    assert describe(client, "g") == [
        DescribedGroup(
            group_id="g",
            group_state="Reconciling",
            group_epoch=2,
            assignment_epoch=2,
            assignor_name="range",
            members=[
                Member(
                    member_id="m",
                    instance_id="i",
                    rack_id="r",
                    member_epoch=1,
                    client_id="a-client",
                    client_host="/192.0.2.7",
                    subscribed_topic_names=["t"],
                    subscribed_topic_regex="",
                    assignment=at(0, 1),
                    target_assignment=at(0),
                    member_type=1,
                ),
                Member(
                    member_id="n",
                    member_epoch=2,
                    client_id="a-client",
                    client_host="/192.0.2.7",
                    subscribed_topic_names=["t", "u"],
                    subscribed_topic_regex="x.*",
                    target_assignment=at(1),
                    member_type=1,
                ),
            ],
        )
    ]


def test_version_0_does_not_tell_the_protocol_of_members(
    kafka: FakeKafka, client: FakeClient
) -> None:
    beat(client, "m")
    [group] = describe(client, "g", version=0)
    assert [one.member_type for one in group.members] == [-1]


@pytest.mark.parametrize("version", [0, 1])
def test_a_group_that_is_not_there_is_told_beside_the_others(
    client: FakeClient, version: int
) -> None:
    beat(client, "m")
    found = describe(client, "x", "g", "", version=version)
    assert [(one.group_id, one.error_code, one.error_message) for one in found] == [
        ("x", 69, "Group x not found."),
        ("g", 0, None),
        ("", 24, None),
    ]


def test_an_empty_group_has_its_epochs(client: FakeClient) -> None:
    beat(client, "m")
    beat(client, "m", -1)
    [group] = describe(client, "g")
    assert (group.group_state, group.group_epoch, group.assignment_epoch) == ("Empty", 2, 1)
    assert group.assignor_name == "uniform"


def test_operations_are_told_to_who_asks(client: FakeClient) -> None:
    beat(client, "m")
    [group] = describe(client, "g", include_authorized_operations=True)
    assert group.authorized_operations == 3400
    assert describe(client, "g")[0].authorized_operations == -(2**31)


def test_a_deleted_topic_is_left_out(kafka: FakeKafka, client: FakeClient) -> None:
    topic = kafka.topic("t", 1)
    beat(client, "m")
    kafka.broker.catalog.remove(topic)
    [group] = describe(client, "g")
    assert group.members[0].assignment.topic_partitions == []
