from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from tests.fakes.client import FakeClient, FakeKafka


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    return kafka


def ask(
    client: FakeClient, member_id: str, epoch: int, version: int = 1, **said: Any
) -> ConsumerGroupHeartbeatResponse:
    if epoch == 0:
        said.setdefault("rebalance_timeout_ms", 60_000)
        said.setdefault("subscribed_topic_names", ["t"])
        said.setdefault("topic_partitions", [])
    said.setdefault("group_id", "g")
    request = ConsumerGroupHeartbeatRequest(member_id=member_id, member_epoch=epoch, **said)
    response: ConsumerGroupHeartbeatResponse = client.ask(request, version)
    return response


def partitions(response: ConsumerGroupHeartbeatResponse) -> list[list[int]] | None:
    assignment = response.assignment
    return None if assignment is None else [one.partitions for one in assignment.topic_partitions]


@pytest.mark.parametrize("version", [0, 1])
def test_who_joins_is_told_its_epoch_its_partitions_and_when_to_come_again(
    version: int, kafka: FakeKafka
) -> None:
    response = ask(kafka.client(), "m", 0, version)
    assert response == ConsumerGroupHeartbeatResponse(
        member_id="m",
        member_epoch=1,
        heartbeat_interval_ms=5000,
        assignment=Assignment(
            topic_partitions=[
                TopicPartitions(topic_id=kafka.existing("t").topic_id, partitions=[0, 1])
            ]
        ),
    )


def test_in_version_0_the_broker_makes_the_id(kafka: FakeKafka) -> None:
    client = kafka.client()
    first, second = ask(client, "", 0, 0), ask(client, "", 0, 0)
    assert len({"", first.member_id, second.member_id}) == 3


def test_in_version_1_it_does_not(kafka: FakeKafka) -> None:
    response = ask(kafka.client(), "", 0)
    assert (response.error_code, response.error_message) == (42, "MemberId can't be empty.")


def test_a_refusal_says_why_and_nothing_else(kafka: FakeKafka) -> None:
    assert ask(kafka.client(), "m", 3) == ConsumerGroupHeartbeatResponse(
        error_code=69, error_message="Consumer group g not found.", member_id=None, assignment=None
    )


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"epoch": 0, "server_assignor": "sticky"}, 112),
        ({"epoch": 0, "subscribed_topic_regex": "(?=x)"}, 128),
        ({"epoch": 9}, 110),
        ({"epoch": 0, "instance_id": "i"}, 111),
        ({"epoch": 1, "instance_id": "i"}, 82),
        ({"epoch": 1, "instance_id": "j"}, 25),
        ({"epoch": -2}, 42),
    ],
)
def test_what_goes_wrong_has_kafkas_code(kafka: FakeKafka, said: dict[str, Any], code: int) -> None:
    client = kafka.client()
    ask(client, "m", 0)
    ask(client, "s", 0, instance_id="i")
    assert ask(client, "m", **said).error_code == code


def test_a_full_group_has_no_room(kafka: FakeKafka) -> None:
    kafka = FakeKafka(group_consumer_max_size="1")
    client = kafka.client()
    ask(client, "m", 0)
    assert ask(client, "n", 0).error_code == 81


def test_an_unchanged_assignment_is_not_sent(kafka: FakeKafka) -> None:
    client = kafka.client()
    ask(client, "m", 0)
    assert partitions(ask(client, "m", 1)) is None


def test_partitions_go_from_one_to_another_in_steps(kafka: FakeKafka) -> None:
    client = kafka.client()
    ask(client, "m", 0)
    ask(client, "n", 0)
    told = ask(client, "m", 1)
    assert partitions(told) == [[0]]
    assert told.assignment is not None
    assert ask(client, "m", 1, topic_partitions=told.assignment.topic_partitions).member_epoch == 2
    assert partitions(ask(client, "n", 2)) == [[1]]


@pytest.mark.parametrize(("epoch", "instance_id"), [(-1, None), (-1, "i"), (-2, "i")])
def test_who_leaves_is_told_its_epoch_again(
    kafka: FakeKafka, epoch: int, instance_id: str | None
) -> None:
    client = kafka.client()
    ask(client, "m", 0, instance_id=instance_id)
    response = ask(client, "m", epoch, instance_id=instance_id)
    assert (response.error_code, response.member_id, response.member_epoch) == (0, "m", epoch)
    assert response.heartbeat_interval_ms == 0


def test_what_could_not_be_kept_is_asked_again(kafka: FakeKafka) -> None:
    client = kafka.client()
    kafka.commit.fail_next()
    assert ask(client, "m", 0).error_code == 15
    assert ask(client, "m", 0).member_epoch == 1


def test_before_offsets_are_read_nobody_is_answered(kafka: FakeKafka) -> None:
    kafka.broker.groups.offsets.loaded = False
    assert ask(kafka.client(), "m", 0).error_code == 14


def test_where_the_protocol_is_not_served_it_is_refused() -> None:
    kafka = FakeKafka(group_coordinator_rebalance_protocols="classic")
    assert ask(kafka.client(), "m", 0).error_code == 35
