"""Messages are compared with Kafka's in tests/oracle, effects are tested with the services."""

from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.config_requests import (
    APPEND,
    BROKER,
    DELETE,
    GROUP,
    LOGGER,
    METRICS,
    SET,
    SUBTRACT,
    TOPIC,
    Operation,
    change,
    changed,
    describe,
    value_of,
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
    [answer] = client.ask(changed((TOPIC, "u", operations)), version).responses
    assert (answer.error_code, answer.error_message) == (0, None)
    assert (answer.resource_type, answer.resource_name) == (TOPIC, "u")
    assert kafka.existing("u").configs == {
        "max.message.bytes": "50",
        "cleanup.policy": "delete,compact",
        "follower.replication.throttled.replicas": "",
    }


RETENTION: Operation = ("retention.ms", SET, "1")
REFUSED: list[tuple[int, str, list[Operation], int]] = [
    (TOPIC, "t", [("unknown", SET, "1")], 40),
    (TOPIC, "t", [("retention.ms", SET, None)], 42),
    (TOPIC, "t", [("unknown", APPEND, None), ("x", SET, None)], 42),
    (TOPIC, "t", [RETENTION, ("retention.ms", DELETE, None)], 42),
    (TOPIC, "t", [("retention.ms", APPEND, "1")], 40),
    (TOPIC, "t", [("cleanup.policy", APPEND, "unknown")], 40),
    (TOPIC, "t", [("retention.ms", 9, "1")], 42),
    (TOPIC, "absent", [RETENTION], 3),
    (TOPIC, "absent", [("unknown", SET, "1")], 40),
    (TOPIC, "", [RETENTION], 42),
    (BROKER, "1", [("num.partitions", SET, "1")], 42),
    (BROKER, "7", [("log.retention.ms", SET, "1")], 42),
    (BROKER, "x", [("log.retention.ms", SET, "1")], 42),
    (BROKER, "", [("log.retention.ms", SET, "x")], 42),
    (GROUP, "g", [(SESSION, SET, "1")], 40),
    (GROUP, "g", [("share.session.timeout.ms", SET, "46000")], 40),
    (GROUP, "", [(SESSION, SET, "46000")], 42),
    (LOGGER, "1", [("root", SET, "INFO")], 40),
    (LOGGER, "1", [("root", APPEND, "INFO")], 42),
    (LOGGER, "2", [("root", SET, "x")], 42),
    (LOGGER, "", [("root", SET, "x")], 42),
    (METRICS, "m", [("interval.ms", SET, "100")], 42),
    (0, "x", [RETENTION], 42),
    (99, "x", [], 42),
]


@pytest.mark.parametrize("kind, name, operations, code", REFUSED)
def test_each_refusal_has_its_code(
    kafka: FakeKafka,
    client: FakeClient,
    kind: int,
    name: str,
    operations: list[Operation],
    code: int,
) -> None:
    found, message = change(client, kind, name, *operations)
    assert (found, bool(message)) == (code, True)
    assert kafka.existing().configs == {}


def test_one_invalid_config_refuses_all_of_its_resource(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.topic("u")
    invalid: Operation = ("max.message.bytes", SET, "x")
    request = changed((TOPIC, "t", [RETENTION, invalid]), (TOPIC, "u", [RETENTION]))
    assert [one.error_code for one in client.ask(request, 1).responses] == [40, 0]
    assert kafka.existing("t").configs == {}
    assert kafka.existing("u").configs == {"retention.ms": "1"}


def test_a_resource_that_appears_twice_is_refused(kafka: FakeKafka, client: FakeClient) -> None:
    resources = [(TOPIC, "t", [("retention.ms", SET, str(at))]) for at in (1, 2)]
    resources.append((GROUP, "t", [(SESSION, SET, "46000")]))
    answers = client.ask(changed(*resources), 1).responses
    assert [one.error_code for one in answers] == [42, 42, 0]
    assert kafka.existing().configs == {}


def test_validate_only_and_a_failed_commit_change_nothing(
    kafka: FakeKafka, client: FakeClient
) -> None:
    request = changed((TOPIC, "t", [RETENTION]), only=True)
    assert [one.error_code for one in client.ask(request, 1).responses] == [0]
    assert kafka.existing().configs == {}
    kafka.commit.fail_next()
    assert change(client, TOPIC, "t", RETENTION)[0] == 56
    assert kafka.existing().configs == {}
    assert change(client, TOPIC, "t", RETENTION) == (0, "")


def test_broker_ids_are_parsed_like_javas_integers(client: FakeClient) -> None:
    assert change(client, BROKER, "01", ("message.max.bytes", SET, "9")) == (0, "")
    assert value_of(client, BROKER, "1", "message.max.bytes") == ("9", 2)
    assert change(client, BROKER, "1", ("message.max.bytes", DELETE, None)) == (0, "")
    assert describe(client, BROKER, "1")["message.max.bytes"].config_source == 5


def test_the_next_heartbeat_has_the_new_interval_of_the_group(client: FakeClient) -> None:
    def heartbeat(epoch: int) -> ConsumerGroupHeartbeatRequest:
        return ConsumerGroupHeartbeatRequest(
            group_id="g",
            member_id="m",
            member_epoch=epoch,
            rebalance_timeout_ms=60_000,
            subscribed_topic_names=["t"],
            topic_partitions=[],
        )

    joined = client.ask(heartbeat(0), 1)
    assert joined.heartbeat_interval_ms == 5000
    assert change(client, GROUP, "g", ("consumer.heartbeat.interval.ms", SET, "7000")) == (0, "")
    assert client.ask(heartbeat(joined.member_epoch), 1).heartbeat_interval_ms == 7000
