"""Messages are compared with Kafka's in tests/oracle, effects are tested with the services."""

from __future__ import annotations

import pytest

from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.config_requests import (
    APPEND,
    DELETE,
    GROUP,
    SET,
    SUBTRACT,
    TOPIC,
    Operation,
    change,
    changed,
)

SESSION = "consumer.session.timeout.ms"


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t")
    return kafka


@pytest.mark.parametrize("version", [0, 1])
def test_configs_are_set_deleted_and_combined(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    kafka.topic("u", retention_ms="7", cleanup_policy="delete")
    operations: list[Operation] = [
        ("max.message.bytes", SET, "50"),
        ("retention.ms", DELETE, None),
        ("cleanup.policy", APPEND, "compact"),
        ("follower.replication.throttled.replicas", SUBTRACT, "0:1"),
    ]
    [response] = client.request(changed((TOPIC, "u", operations)), version).responses
    assert (response.error_code, response.error_message) == (0, None)
    assert (response.resource_type, response.resource_name) == (TOPIC, "u")
    assert kafka.existing("u").configs == {
        "max.message.bytes": "50",
        "cleanup.policy": "delete,compact",
        "follower.replication.throttled.replicas": "",
    }


RETENTION: Operation = ("retention.ms", SET, "1")


def test_a_resource_that_appears_twice_is_refused(kafka: FakeKafka, client: FakeClient) -> None:
    resources = [(TOPIC, "t", [("retention.ms", SET, str(at))]) for at in (1, 2)]
    resources.append((GROUP, "t", [(SESSION, SET, "46000")]))
    responses = client.request(changed(*resources), 1).responses
    assert [one.error_code for one in responses] == [42, 42, 0]
    assert kafka.existing().configs == {}


def test_validate_only_and_a_failed_commit_change_nothing(
    kafka: FakeKafka, client: FakeClient
) -> None:
    request = changed((TOPIC, "t", [RETENTION]), only=True)
    assert [one.error_code for one in client.request(request, 1).responses] == [0]
    assert kafka.existing().configs == {}
    kafka.commit.fail_next()
    assert change(client, TOPIC, "t", RETENTION)[0] == 56
    assert kafka.existing().configs == {}
    assert change(client, TOPIC, "t", RETENTION) == (0, "")
