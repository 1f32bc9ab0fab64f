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
    client: FakeClient, member_id: str, epoch: int, version: int = 1, **fields: Any
) -> ConsumerGroupHeartbeatResponse:
    if epoch == 0:
        joining = {"subscribed_topic_names": ["t"], "topic_partitions": []}
        fields = {"rebalance_timeout_ms": 60_000, **joining, **fields}
    request = ConsumerGroupHeartbeatRequest(
        group_id="g", member_id=member_id, member_epoch=epoch, **fields
    )
    response: ConsumerGroupHeartbeatResponse = client.ask(request, version)
    return response


def partitions(response: ConsumerGroupHeartbeatResponse) -> list[list[int]] | None:
    assignment = response.assignment
    return None if assignment is None else [one.partitions for one in assignment.topic_partitions]


@pytest.mark.parametrize("version", [0, 1])
def test_a_new_member_gets_its_epoch_its_partitions_and_the_interval(
    version: int, kafka: FakeKafka, client: FakeClient
) -> None:
    """The next response has the assignment only if it has changed."""
    assigned = TopicPartitions(topic_id=kafka.existing("t").topic_id, partitions=[0, 1])
    assert ask(client, "m", 0, version) == ConsumerGroupHeartbeatResponse(
        member_id="m",
        member_epoch=1,
        heartbeat_interval_ms=5000,
        assignment=Assignment(topic_partitions=[assigned]),
    )
    assert partitions(ask(client, "m", 1, version)) is None


def test_the_broker_creates_member_ids_in_version_0_only(client: FakeClient) -> None:
    first, second = ask(client, "", 0, 0), ask(client, "", 0, 0)
    assert len({"", first.member_id, second.member_id}) == 3
    assert ask(client, "", 0, 1).error_code == 42


def test_a_refusal_has_a_message_and_nothing_else(client: FakeClient) -> None:
    response = ask(client, "m", 3)
    assert response.error_message
    assert response == ConsumerGroupHeartbeatResponse(
        error_code=69, error_message=response.error_message, member_id=None, assignment=None
    )


@pytest.mark.parametrize(
    ("fields", "code"),
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
def test_each_refusal_has_its_code(client: FakeClient, fields: dict[str, Any], code: int) -> None:
    ask(client, "m", 0)
    ask(client, "s", 0, instance_id="i")
    assert ask(client, "m", **fields).error_code == code


def test_settings_limit_the_members_and_the_protocols() -> None:
    full = FakeKafka(group_consumer_max_size="1").client()
    assert [ask(full, member_id, 0).error_code for member_id in ("m", "n")] == [0, 81]
    classic_only = FakeKafka(group_coordinator_rebalance_protocols="classic").client()
    assert ask(classic_only, "m", 0).error_code == 35


def test_partitions_move_from_one_member_to_another_in_steps(client: FakeClient) -> None:
    ask(client, "m", 0)
    ask(client, "n", 0)
    revoking = ask(client, "m", 1)
    assert partitions(revoking) == [[0]]
    assert revoking.assignment is not None
    owned = revoking.assignment.topic_partitions
    assert ask(client, "m", 1, topic_partitions=owned).member_epoch == 2
    assert partitions(ask(client, "n", 2)) == [[1]]


@pytest.mark.parametrize(("epoch", "instance_id"), [(-1, None), (-1, "i"), (-2, "i")])
def test_a_leaving_member_gets_its_epoch_back(
    client: FakeClient, epoch: int, instance_id: str | None
) -> None:
    ask(client, "m", 0, instance_id=instance_id)
    response = ask(client, "m", epoch, instance_id=instance_id)
    assert (response.error_code, response.member_id, response.member_epoch) == (0, "m", epoch)
    assert response.heartbeat_interval_ms == 0


def test_a_failed_commit_and_loading_are_retriable_errors(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.commit.fail_next()
    assert ask(client, "m", 0).error_code == 15
    assert ask(client, "m", 0).member_epoch == 1
    kafka.broker.groups.offsets.loaded = False
    assert ask(client, "m", 0).error_code == 14
