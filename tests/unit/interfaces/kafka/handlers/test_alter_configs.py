"""The messages are compared with Kafka's in tests/oracle."""

from __future__ import annotations

import pytest

from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.config_requests import (
    BROKER,
    GROUP,
    LOGGER,
    TOPIC,
    replaced,
    set_configs,
    value_of,
)

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", retention_ms="7", max_message_bytes="50")
    return kafka


@pytest.mark.parametrize("version", [0, 1, 2])
def test_configs_that_a_request_omits_are_removed(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    set_configs(client, GROUP, "g", **{SESSION: "50000"})
    request = replaced(
        (TOPIC, "t", {"retention.ms": "8"}),
        (GROUP, "g", {HEARTBEAT: "6000"}),
        (BROKER, "1", {"message.max.bytes": "9"}),
    )
    responses = client.request(request, version).responses
    assert [(one.error_code, one.error_message) for one in responses] == [(0, None)] * 3
    assert [(one.resource_type, one.resource_name) for one in responses] == [
        (TOPIC, "t"), (GROUP, "g"), (BROKER, "1")
    ]  # fmt: skip
    assert kafka.existing().configs == {"retention.ms": "8"}
    assert value_of(client, GROUP, "g", SESSION) == ("45000", 5)
    assert value_of(client, GROUP, "g", HEARTBEAT) == ("6000", 8)
    assert value_of(client, BROKER, "1", "message.max.bytes") == ("9", 2)


def test_refusals_and_validate_only_change_nothing(kafka: FakeKafka, client: FakeClient) -> None:
    twice = replaced((TOPIC, "t", {"retention.ms": "1"}))
    twice.resources[0].configs *= 2
    for request, codes in (
        (replaced((TOPIC, "t", {"retention.ms": "x"}), (LOGGER, "1", {"root": "INFO"})), [40, 42]),
        (replaced((TOPIC, "t", {}), (TOPIC, "t", {})), [42, 42]),
        (replaced((TOPIC, "t", {}), (TOPIC, "absent", {}), only=True), [0, 3]),
        (twice, [42]),
    ):
        assert [one.error_code for one in client.request(request, 2).responses] == codes
    assert kafka.existing().configs == {"retention.ms": "7", "max.message.bytes": "50"}
