"""Messages are those of Apache Kafka 4.2."""

from __future__ import annotations

import pytest

from domain.configs.broker import BrokerConfig
from domain.configs.group import GROUP_CONFIGS, resolve_group_config, validate_group_configs
from domain.errors import InvalidConfig

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"


def test_every_default_is_that_of_its_broker_setting() -> None:
    for row in GROUP_CONFIGS.values():
        [synonym] = row.synonyms
        assert BrokerConfig.definitions[synonym].default == row.default


def test_defaults_come_from_the_broker() -> None:
    broker = BrokerConfig({"group.consumer.session.timeout.ms": "50000"})
    config = resolve_group_config({HEARTBEAT: "7000"}, broker)
    assert config.consumer_session_timeout_ms == 50000
    assert config.consumer_heartbeat_interval_ms == 7000


def test_the_session_timeout_is_longer_than_the_heartbeat_interval() -> None:
    broker = BrokerConfig({"group.consumer.min.session.timeout.ms": "1"})
    validate_group_configs({SESSION: "5001"}, broker)
    with pytest.raises(InvalidConfig, match=f"^{SESSION} must be greater than {HEARTBEAT}$"):
        validate_group_configs({SESSION: "5000"}, broker)


def test_the_bounds_are_those_of_the_broker() -> None:
    broker = BrokerConfig({"group.consumer.max.heartbeat.interval.ms": "20000"})
    validate_group_configs({HEARTBEAT: "20000"}, broker)
