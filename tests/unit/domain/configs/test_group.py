"""The words are those of Apache Kafka 4.2, taken down from its answers."""

from __future__ import annotations

import pytest

from domain.configs.broker import BrokerConfig
from domain.configs.group import GROUP_CONFIGS, resolve_group_config, validate_group_configs
from domain.errors import InvalidConfig

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"


def test_every_default_is_that_of_the_broker_setting_it_is_a_synonym_of() -> None:
    for row in GROUP_CONFIGS.values():
        [synonym] = row.synonyms
        assert BrokerConfig.definitions[synonym].default == row.default


def test_what_a_group_does_not_set_comes_from_the_broker() -> None:
    broker = BrokerConfig({"group.consumer.session.timeout.ms": "50000"})
    config = resolve_group_config({HEARTBEAT: "7000"}, broker)
    assert config.consumer_session_timeout_ms == 50000
    assert config.consumer_heartbeat_interval_ms == 7000


REFUSED: list[tuple[dict[str, str], str]] = [
    ({"nope": "1"}, "Unknown group config name: nope"),
    (
        {SESSION: "x"},
        f"Invalid value x for configuration {SESSION}: Not a number of type INT",
    ),
    ({SESSION: "0"}, f"Invalid value 0 for configuration {SESSION}: Value must be at least 1"),
    (
        {SESSION: "44999"},
        f"{SESSION} must be greater than or equal to group.consumer.min.session.timeout.ms",
    ),
    (
        {SESSION: "60001"},
        f"{SESSION} must be less than or equal to group.consumer.max.session.timeout.ms",
    ),
    (
        {HEARTBEAT: "4999"},
        f"{HEARTBEAT} must be greater than or equal to group.consumer.min.heartbeat.interval.ms",
    ),
    (
        {HEARTBEAT: "15001", SESSION: "1"},
        f"{HEARTBEAT} must be less than or equal to group.consumer.max.heartbeat.interval.ms",
    ),
]


@pytest.mark.parametrize("configs, words", REFUSED)
def test_what_kafka_refuses_is_refused_with_its_words(configs: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidConfig) as refusal:
        validate_group_configs(configs, BrokerConfig())
    assert refusal.value.message == words


def test_a_session_lasts_longer_than_the_time_between_heartbeats() -> None:
    broker = BrokerConfig({"group.consumer.min.session.timeout.ms": "1"})
    validate_group_configs({SESSION: "5001"}, broker)
    with pytest.raises(InvalidConfig, match=f"^{SESSION} must be greater than {HEARTBEAT}$"):
        validate_group_configs({SESSION: "5000"}, broker)


def test_the_bounds_are_those_of_the_broker() -> None:
    broker = BrokerConfig({"group.consumer.max.heartbeat.interval.ms": "20000"})
    validate_group_configs({HEARTBEAT: "20000"}, broker)
