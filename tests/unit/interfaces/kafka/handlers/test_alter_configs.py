"""Codes and words are those of Apache Kafka 4.2."""

from __future__ import annotations

import pytest

from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.config_requests import (
    BROKER,
    GROUP,
    LOGGER,
    TOPIC,
    describe,
    replaced,
    set_configs,
    value_of,
)

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"


@pytest.mark.parametrize("version", range(3))
def test_what_is_not_named_is_not_set_any_more(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    kafka.topic("t", retention_ms="7", max_message_bytes="50")
    set_configs(client, GROUP, "g", **{SESSION: "50000"})
    asked = replaced(
        (TOPIC, "t", {"retention.ms": "8"}),
        (GROUP, "g", {HEARTBEAT: "6000"}),
        (BROKER, "1", {"message.max.bytes": "9"}),
    )
    answers = client.ask(asked, version).responses
    assert [(one.error_code, one.error_message) for one in answers] == [(0, None)] * 3
    assert [(one.resource_type, one.resource_name) for one in answers] == [
        (TOPIC, "t"), (GROUP, "g"), (BROKER, "1")
    ]  # fmt: skip
    assert kafka.existing().configs == {"retention.ms": "8"}
    assert value_of(client, GROUP, "g", SESSION) == ("45000", 5)
    assert value_of(client, GROUP, "g", HEARTBEAT) == ("6000", 8)
    assert value_of(client, BROKER, "1", "message.max.bytes") == ("9", 2)


def test_without_configs_nothing_is_set_any_more(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("t", retention_ms="7")
    set_configs(client, BROKER, "", message_max_bytes="9")
    client.ask(replaced((TOPIC, "t", {}), (BROKER, "", {})), 2)
    assert kafka.existing().configs == {}
    assert describe(client, BROKER, "") == {}


REFUSED: list[tuple[int, str, dict[str, str | None], int, str]] = [
    (
        TOPIC,
        "t",
        {"retention.ms": "x"},
        40,
        "Invalid value x for configuration retention.ms: Not a number of type LONG",
    ),
    (TOPIC, "t", {"retention.ms": None}, 42, "Null value not supported for : retention.ms"),
    (TOPIC, "t", {"nope": "1"}, 40, "Unknown topic config name: nope"),
    (TOPIC, "absent", {}, 3, "The topic 'absent' does not exist."),
    (
        BROKER,
        "1",
        {"num.partitions": "2"},
        42,
        "Cannot update these configs dynamically: Set(num.partitions)",
    ),
    (GROUP, "", {}, 42, "Default group resources are not allowed."),
    (LOGGER, "1", {"root": "INFO"}, 42, "Unknown resource type 8"),
    (99, "x", {}, 42, "Unknown resource type 99"),
]


@pytest.mark.parametrize("kind, name, configs, code, words", REFUSED)
def test_what_kafka_refuses_is_refused_with_its_words(
    kafka: FakeKafka,
    client: FakeClient,
    kind: int,
    name: str,
    configs: dict[str, str | None],
    code: int,
    words: str,
) -> None:
    kafka.topic("t", retention_ms="7")
    [answer] = client.ask(replaced((kind, name, configs)), 2).responses
    assert (answer.error_code, answer.error_message) == (code, words)
    assert kafka.existing().configs == {"retention.ms": "7"}


def test_a_resource_or_a_config_that_is_named_twice_is_refused(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.topic("t", retention_ms="7")
    twice = replaced((TOPIC, "t", {"retention.ms": "1"}))
    twice.resources[0].configs *= 2
    [answer] = client.ask(twice, 2).responses
    assert answer.error_message == "Error due to duplicate config keys"
    answers = client.ask(replaced((TOPIC, "t", {}), (TOPIC, "t", {})), 2).responses
    assert {one.error_message for one in answers} == {"Each resource must appear at most once."}
    assert kafka.existing().configs == {"retention.ms": "7"}


def test_looking_only_changes_nothing(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("t", retention_ms="7")
    asked = replaced((TOPIC, "t", {}), (TOPIC, "absent", {}), only=True)
    assert [one.error_code for one in client.ask(asked, 2).responses] == [0, 3]
    assert kafka.existing().configs == {"retention.ms": "7"}


def test_a_failed_commit_is_told(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("t", retention_ms="7")
    kafka.commit.fail_next()
    [answer] = client.ask(replaced((TOPIC, "t", {})), 2).responses
    assert answer.error_code == 56
    assert kafka.existing().configs == {"retention.ms": "7"}
