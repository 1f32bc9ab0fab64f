"""Messages are those of Apache Kafka 4.2."""

from __future__ import annotations

import pytest

from domain.configs.broker import BrokerConfig
from domain.configs.settings.definition import Kind, Source
from domain.configs.topic import (
    deciding_source,
    describe_topic_configs,
    resolve_topic_config,
    topic_value,
    validate_topic_configs,
)
from domain.configs.topic_table import TOPIC_CONFIGS
from domain.errors import InvalidConfig

REFUSED = [
    ("retention.ms", "", "Not a number of type LONG"),
    ("retention.ms", "1_000", "Not a number of type LONG"),
    ("retention.ms", "9223372036854775808", "Not a number of type LONG"),
    ("retention.ms", "9" * 5000, "Not a number of type LONG"),
    ("retention.ms", "1e3", "Not a number of type LONG"),
    ("segment.bytes", "2147483648", "Not a number of type INT"),
    ("cleanup.policy", "DELETE", "String must be one of: compact, delete"),
    (
        "compression.type",
        "brotli",
        "String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer",
    ),
    ("compression.gzip.level", "10", "Value must be between 1 and 9 or equal to -1"),
    ("compression.zstd.level", "-131073", "Value must be at least -131072"),
    ("min.cleanable.dirty.ratio", "abc", "Not a number of type DOUBLE"),
    ("flush.messages", "0", "Value must be at least 1"),
    ("local.retention.ms", "-3", "Value must be at least -2"),
]


@pytest.mark.parametrize("name, text, why", REFUSED)
def test_an_invalid_value_is_refused_with_kafkas_message(name: str, text: str, why: str) -> None:
    with pytest.raises(InvalidConfig) as refusal:
        validate_topic_configs({name: text})
    assert refusal.value.message == f"Invalid value {text} for configuration {name}: {why}"


@pytest.mark.parametrize(
    "policy, message",
    [
        ("delete,nope", "Invalid value nope for configuration cleanup.policy: String must be one"),
        ("delete,,compact", "Configuration 'cleanup.policy' values must not be empty."),
    ],
)
def test_an_invalid_list_is_refused_with_kafkas_message(policy: str, message: str) -> None:
    with pytest.raises(InvalidConfig) as refusal:
        validate_topic_configs({"cleanup.policy": policy})
    assert refusal.value.message.startswith(message)


ACCEPTED = [
    ("retention.ms", " 5 ", 5),
    ("retention.ms", "+7", 7),
    ("retention.bytes", "-5", -5),
    ("cleanup.policy", " delete , compact ", ("delete", "compact")),
    ("cleanup.policy", "delete,delete", ("delete",)),
    ("cleanup.policy", "", ()),
    ("compression.type", " gzip", "gzip"),
    ("compression.gzip.level", "-1", -1),
    ("min.cleanable.dirty.ratio", "1", 1.0),
    ("min.cleanable.dirty.ratio", ".5f", 0.5),
    ("preallocate", " TRUE ", True),
    ("follower.replication.throttled.replicas", "0:1, 1:2", ("0:1", "1:2")),
    ("follower.replication.throttled.replicas", "*", ("*",)),
]


@pytest.mark.parametrize("name, text, value", ACCEPTED)
def test_valid_values_are_parsed_as_in_kafka(name: str, text: str, value: object) -> None:
    validate_topic_configs({name: text})
    assert topic_value(name, {name: text}, BrokerConfig()) == value


def test_topics_have_the_defaults_of_the_table() -> None:
    for entry in describe_topic_configs({}, BrokerConfig()):
        assert entry.value == entry.definition.default, entry.name
        assert entry.source is Source.DEFAULT


def test_every_default_lies_within_its_own_bounds() -> None:
    for definition in TOPIC_CONFIGS.values():
        text = definition.format(definition.default)
        assert text is not None
        assert definition.parse(text) == definition.default


def test_every_synonym_is_a_broker_setting_of_the_same_kind_of_value() -> None:
    whole = (Kind.INT, Kind.LONG)
    for definition in TOPIC_CONFIGS.values():
        for synonym in definition.synonyms:
            row = BrokerConfig.definitions[synonym]
            assert row.kind is definition.kind or {row.kind, definition.kind} <= set(whole)


def test_the_finer_unit_of_the_retention_settings_wins() -> None:
    def retention_ms(given: dict[str, str]) -> object:
        return topic_value("retention.ms", {}, BrokerConfig(given))

    assert retention_ms({"log.retention.hours": "2"}) == 7_200_000
    assert retention_ms({"log.retention.hours": "2", "log.retention.minutes": "3"}) == 180_000
    assert retention_ms({"log.retention.minutes": "3", "log.retention.ms": "4"}) == 4
    assert retention_ms({"log.retention.hours": "-1"}) == -1


def test_the_source_of_a_value_is_known() -> None:
    broker = BrokerConfig({"log.retention.minutes": "60", "message.max.bytes": "9"})
    assert deciding_source("retention.ms", {}, broker) is Source.STATIC_BROKER
    assert deciding_source("max.message.bytes", {}, broker) is Source.STATIC_BROKER
    assert deciding_source("retention.ms", {"retention.ms": "7"}, broker) is Source.TOPIC
    broker.configure({}, {"log.retention.ms": "8"})
    assert deciding_source("retention.ms", {}, broker) is Source.DYNAMIC_DEFAULT_BROKER
    assert deciding_source("preallocate", {}, broker) is Source.DEFAULT
    assert deciding_source("remote.storage.enable", {}, broker) is Source.DEFAULT


def test_topic_configs_are_resolved_from_topic_broker_and_default() -> None:
    broker = BrokerConfig({"message.max.bytes": "5000", "log.cleanup.policy": "compact"})
    config = resolve_topic_config({"message.timestamp.type": "LogAppendTime"}, broker)
    assert config.max_message_bytes == 5000
    assert config.compacted
    assert config.log_append_time
    assert config.timestamp_after_max_ms == 3_600_000
    assert not resolve_topic_config({"cleanup.policy": "delete"}, broker).compacted


def test_compaction_lags_are_compared_with_broker_defaults() -> None:
    broker = BrokerConfig({"log.cleaner.max.compaction.lag.ms": "5"})
    with pytest.raises(InvalidConfig, match="conflict topic config setting"):
        validate_topic_configs({"min.compaction.lag.ms": "10"}, broker)
