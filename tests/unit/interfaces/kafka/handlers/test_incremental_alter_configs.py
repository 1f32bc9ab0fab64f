"""Codes and words are those of Apache Kafka 4.2; what a change does, the services' tests show."""

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


@pytest.mark.parametrize("version", [0, 1])
def test_configs_are_set_deleted_and_combined(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    kafka.topic("t", retention_ms="7", cleanup_policy="delete")
    operations: list[Operation] = [
        ("max.message.bytes", SET, "50"),
        ("retention.ms", DELETE, None),
        ("cleanup.policy", APPEND, "compact"),
        ("follower.replication.throttled.replicas", SUBTRACT, "0:1"),
    ]
    [answer] = client.ask(changed((TOPIC, "t", operations)), version).responses
    assert (answer.error_code, answer.error_message) == (0, None)
    assert (answer.resource_type, answer.resource_name) == (TOPIC, "t")
    assert kafka.existing().configs == {
        "max.message.bytes": "50",
        "cleanup.policy": "delete,compact",
        "follower.replication.throttled.replicas": "",
    }


REFUSED: list[tuple[int, str, list[Operation], int, str]] = [
    (TOPIC, "t", [("nope", SET, "1")], 40, "Unknown topic config name: nope"),
    (TOPIC, "t", [("retention.ms", SET, None)], 42, "Null value not supported for : retention.ms"),
    (
        TOPIC,
        "t",
        [("nope", APPEND, None), ("x", SET, None)],
        42,
        "Null value not supported for : nope, x",
    ),
    (
        TOPIC,
        "t",
        [("retention.ms", SET, "1"), ("retention.ms", DELETE, None)],
        42,
        "Error due to duplicate config keys",
    ),
    (
        TOPIC,
        "t",
        [("retention.ms", APPEND, "1")],
        40,
        "Can't APPEND to key retention.ms because its type is not LIST.",
    ),
    (
        TOPIC,
        "t",
        [("cleanup.policy", APPEND, "nope")],
        40,
        "Invalid value nope for configuration cleanup.policy: "
        "String must be one of: compact, delete",
    ),
    (TOPIC, "t", [("retention.ms", 9, "1")], 42, "Unknown operations type 9"),
    (TOPIC, "absent", [("retention.ms", SET, "1")], 3, "The topic 'absent' does not exist."),
    (TOPIC, "absent", [("nope", SET, "1")], 40, "Unknown topic config name: nope"),
    (TOPIC, "", [("retention.ms", SET, "1")], 42, "Default topic resources are not allowed."),
    (
        BROKER,
        "1",
        [("num.partitions", SET, "1")],
        42,
        "Cannot update these configs dynamically: Set(num.partitions)",
    ),
    (
        BROKER,
        "7",
        [("log.retention.ms", SET, "1")],
        42,
        "Unexpected broker id, expected 1, but received 7",
    ),
    (BROKER, "x", [("log.retention.ms", SET, "1")], 42, "Node id must be an integer, but it is: x"),
    (
        BROKER,
        "",
        [("log.retention.ms", SET, "x")],
        42,
        "Invalid value x for configuration log.retention.ms: Not a number of type LONG",
    ),
    (
        GROUP,
        "g",
        [(SESSION, SET, "1")],
        40,
        f"{SESSION} must be greater than or equal to group.consumer.min.session.timeout.ms",
    ),
    (
        GROUP,
        "g",
        [("share.session.timeout.ms", SET, "46000")],
        40,
        "Unknown group config name: share.session.timeout.ms",
    ),
    (GROUP, "", [(SESSION, SET, "46000")], 42, "Default group resources are not allowed."),
    (LOGGER, "1", [("root", SET, "INFO")], 40, "Logger root does not exist!"),
    (
        LOGGER,
        "1",
        [("root", APPEND, "INFO")],
        42,
        "APPEND operation is not allowed for the BROKER_LOGGER resource",
    ),
    (LOGGER, "2", [("root", SET, "x")], 42, "Unexpected node id. Expected 1, but received 2"),
    (LOGGER, "", [("root", SET, "x")], 42, "Node id must be an integer, but it is: "),
    (METRICS, "m", [("interval.ms", SET, "100")], 42, "Metrics of clients are not collected"),
    (0, "x", [("retention.ms", SET, "1")], 42, "Unknown resource type 0"),
    (99, "x", [], 42, "Unknown resource type 99"),
]


@pytest.mark.parametrize("kind, name, operations, code, words", REFUSED)
def test_what_kafka_refuses_is_refused_with_its_words(
    kafka: FakeKafka,
    client: FakeClient,
    kind: int,
    name: str,
    operations: list[Operation],
    code: int,
    words: str,
) -> None:
    kafka.topic("t")
    assert change(client, kind, name, *operations) == (code, words)
    assert kafka.existing().configs == {}


def test_one_wrong_config_keeps_all_of_its_resource_as_it_was(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.topic("t")
    kafka.topic("u")
    wrong: list[Operation] = [("retention.ms", SET, "1"), ("max.message.bytes", SET, "x")]
    right: list[Operation] = [("retention.ms", SET, "1")]
    answers = client.ask(changed((TOPIC, "t", wrong), (TOPIC, "u", right)), 1).responses
    assert [one.error_code for one in answers] == [40, 0]
    assert kafka.existing("t").configs == {}
    assert kafka.existing("u").configs == {"retention.ms": "1"}


def test_a_resource_that_is_named_twice_is_not_changed(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.topic("t")
    asked = [(TOPIC, "t", [("retention.ms", SET, str(at))]) for at in (1, 2)]
    asked.append((GROUP, "t", [(SESSION, SET, "46000")]))
    answers = client.ask(changed(*asked), 1).responses
    words = "Each resource must appear at most once."
    assert [(one.error_code, one.error_message) for one in answers] == [
        (42, words), (42, words), (0, None)
    ]  # fmt: skip
    assert kafka.existing().configs == {}


def test_looking_only_changes_nothing(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("t")
    asked = changed((TOPIC, "t", [("retention.ms", SET, "1")]), only=True)
    assert [one.error_code for one in client.ask(asked, 1).responses] == [0]
    assert kafka.existing().configs == {}


def test_a_failed_commit_is_told_and_changes_nothing(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("t")
    kafka.commit.fail_next()
    assert change(client, TOPIC, "t", ("retention.ms", SET, "1"))[0] == 56
    assert kafka.existing().configs == {}
    assert change(client, TOPIC, "t", ("retention.ms", SET, "1")) == (0, "")


def test_a_broker_may_be_named_as_java_reads_numbers(client: FakeClient) -> None:
    assert change(client, BROKER, "01", ("message.max.bytes", SET, "9")) == (0, "")
    assert value_of(client, BROKER, "1", "message.max.bytes") == ("9", 2)
    assert change(client, BROKER, "1", ("message.max.bytes", DELETE, None)) == (0, "")
    assert describe(client, BROKER, "1")["message.max.bytes"].config_source == 5


def test_the_next_heartbeat_is_told_the_groups_new_interval(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.topic("t")
    joining = ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id="m",
        member_epoch=0,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=["t"],
        topic_partitions=[],
    )
    joined = client.ask(joining, 1)
    assert joined.heartbeat_interval_ms == 5000
    assert change(client, GROUP, "g", ("consumer.heartbeat.interval.ms", SET, "7000")) == (0, "")
    heartbeat = ConsumerGroupHeartbeatRequest(
        group_id="g", member_id="m", member_epoch=joined.member_epoch
    )
    assert client.ask(heartbeat, 1).heartbeat_interval_ms == 7000
