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


def heartbeat(
    client: FakeClient, member_id: str, epoch: int, version: int = 1, **fields: Any
) -> ConsumerGroupHeartbeatResponse:
    if epoch == 0:
        joining = {"subscribed_topic_names": ["t"], "topic_partitions": []}
        fields = {"rebalance_timeout_ms": 60_000, **joining, **fields}
    request = ConsumerGroupHeartbeatRequest(
        group_id="g", member_id=member_id, member_epoch=epoch, **fields
    )
    response: ConsumerGroupHeartbeatResponse = client.request(request, version)
    return response


@pytest.mark.parametrize("version", [0, 1])
def test_a_new_member_gets_its_epoch_its_partitions_and_the_interval(
    version: int, kafka: FakeKafka, client: FakeClient
) -> None:
    """The next response has the assignment only if it has changed."""
    assigned = TopicPartitions(topic_id=kafka.existing("t").topic_id, partitions=[0, 1])
    assert heartbeat(client, "m", 0, version) == ConsumerGroupHeartbeatResponse(
        member_id="m",
        member_epoch=1,
        heartbeat_interval_ms=5000,
        assignment=Assignment(topic_partitions=[assigned]),
    )
    assert heartbeat(client, "m", 1, version).assignment is None


def test_the_broker_creates_member_ids_in_version_0_only(client: FakeClient) -> None:
    first, second = heartbeat(client, "", 0, 0), heartbeat(client, "", 0, 0)
    assert len({"", first.member_id, second.member_id}) == 3
    assert heartbeat(client, "", 0, 1).error_code == 42


def test_a_refusal_has_a_message_and_nothing_else(client: FakeClient) -> None:
    response = heartbeat(client, "m", 3)
    assert response.error_message
    assert response == ConsumerGroupHeartbeatResponse(
        error_code=69, error_message=response.error_message, member_id=None, assignment=None
    )


def test_settings_limit_the_members_and_the_protocols() -> None:
    full = FakeKafka(group_consumer_max_size="1").client()
    assert [heartbeat(full, member_id, 0).error_code for member_id in ("m", "n")] == [0, 81]
    classic_only = FakeKafka(group_coordinator_rebalance_protocols="classic").client()
    assert heartbeat(classic_only, "m", 0).error_code == 35


def test_a_failed_commit_and_loading_are_retriable_errors(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.commit.fail_next()
    assert heartbeat(client, "m", 0).error_code == 15
    assert heartbeat(client, "m", 0).member_epoch == 1
    kafka.broker.groups.offsets.loaded = False
    assert heartbeat(client, "m", 0).error_code == 14
