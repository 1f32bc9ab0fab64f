"""The words are those of Apache Kafka 4.2, taken down from its own validation."""

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
    ("retention.ms", "abc", "Not a number of type LONG"),
    ("retention.ms", "", "Not a number of type LONG"),
    ("retention.ms", "-2", "Value must be at least -1"),
    ("retention.ms", "1_000", "Not a number of type LONG"),
    ("retention.ms", "9223372036854775808", "Not a number of type LONG"),
    ("retention.ms", "9" * 5000, "Not a number of type LONG"),
    ("retention.ms", "1e3", "Not a number of type LONG"),
    ("segment.bytes", "1048575", "Value must be at least 1048576"),
    ("segment.bytes", "2147483648", "Not a number of type INT"),
    ("max.message.bytes", "-1", "Value must be at least 0"),
    ("cleanup.policy", "nope", "String must be one of: compact, delete"),
    ("cleanup.policy", "DELETE", "String must be one of: compact, delete"),
    (
        "compression.type",
        "brotli",
        "String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer",
    ),
    ("compression.gzip.level", "0", "Value must be between 1 and 9 or equal to -1"),
    ("compression.gzip.level", "10", "Value must be between 1 and 9 or equal to -1"),
    ("compression.lz4.level", "18", "Value must be no more than 17"),
    ("compression.zstd.level", "-131073", "Value must be at least -131072"),
    ("message.timestamp.type", "createtime", "String must be one of: CreateTime, LogAppendTime"),
    ("min.cleanable.dirty.ratio", "1.1", "Value must be no more than 1"),
    ("min.cleanable.dirty.ratio", "abc", "Not a number of type DOUBLE"),
    ("preallocate", "yes", "Expected value to be either true or false"),
    ("flush.messages", "0", "Value must be at least 1"),
    ("local.retention.ms", "-3", "Value must be at least -2"),
]


@pytest.mark.parametrize("name, text, why", REFUSED)
def test_a_wrong_value_is_refused_with_kafkas_words(name: str, text: str, why: str) -> None:
    with pytest.raises(InvalidConfig) as refusal:
        validate_topic_configs({name: text})
    assert refusal.value.message == f"Invalid value {text} for configuration {name}: {why}"


WHOLE_MESSAGES = [
    ({"nope": "1"}, "Unknown topic config name: nope"),
    ({"message.format.version": "3.0"}, "Unknown topic config name: message.format.version"),
    (
        {"cleanup.policy": "delete,nope"},
        (
            "Invalid value nope for configuration cleanup.policy: "
            "String must be one of: compact, delete"
        ),
    ),
    (
        {"cleanup.policy": "delete,,compact"},
        "Configuration 'cleanup.policy' values must not be empty.",
    ),
    (
        {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"},
        "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)",
    ),
    (
        {"remote.storage.enable": "true"},
        (
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        ),
    ),
    (
        {"leader.replication.throttled.replicas": "0:1,*"},
        (
            "Invalid value [0:1, *] for configuration leader.replication.throttled.replicas: "
            "leader.replication.throttled.replicas must be the literal '*' or a list of replicas "
            "in the following format: [partitionId]:[brokerId],[partitionId]:[brokerId],..."
        ),
    ),
    ({"retention.ms": None}, "Null value not supported for topic configs: retention.ms"),
    ({"nope": None, "retention.ms": "soon"}, "Null value not supported for topic configs: nope"),
]


@pytest.mark.parametrize("overrides, message", WHOLE_MESSAGES)
def test_configs_that_do_not_go_together_are_refused_with_kafkas_words(
    overrides: dict[str, str | None], message: str
) -> None:
    with pytest.raises(InvalidConfig) as refusal:
        validate_topic_configs(overrides)
    assert refusal.value.message == message


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
def test_what_kafka_accepts_is_read_as_kafka_reads_it(name: str, text: str, value: object) -> None:
    validate_topic_configs({name: text})
    assert topic_value(name, {name: text}, BrokerConfig()) == value


def test_an_untouched_broker_gives_topics_exactly_the_defaults_of_the_table() -> None:
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


def test_a_new_topic_is_told_who_decided_a_value() -> None:
    broker = BrokerConfig({"log.retention.minutes": "60", "message.max.bytes": "9"})
    assert deciding_source("retention.ms", {}, broker) is Source.STATIC_BROKER
    assert deciding_source("max.message.bytes", {}, broker) is Source.STATIC_BROKER
    assert deciding_source("retention.ms", {"retention.ms": "7"}, broker) is Source.TOPIC
    broker.configure({}, {"log.retention.ms": "8"})
    assert deciding_source("retention.ms", {}, broker) is Source.DYNAMIC_DEFAULT_BROKER
    assert deciding_source("preallocate", {}, broker) is Source.DEFAULT
    assert deciding_source("remote.storage.enable", {}, broker) is Source.DEFAULT


def test_a_topic_config_is_resolved_from_overrides_then_the_broker_then_the_table() -> None:
    broker = BrokerConfig({"message.max.bytes": "5000", "log.cleanup.policy": "compact"})
    config = resolve_topic_config({"message.timestamp.type": "LogAppendTime"}, broker)
    assert config.max_message_bytes == 5000
    assert config.compacted
    assert config.log_append_time
    assert config.timestamp_after_max_ms == 3_600_000
    assert not resolve_topic_config({"cleanup.policy": "delete"}, broker).compacted


def test_a_lag_is_compared_with_the_brokers_default_of_its_counterpart() -> None:
    broker = BrokerConfig({"log.cleaner.max.compaction.lag.ms": "5"})
    with pytest.raises(InvalidConfig, match="conflict topic config setting"):
        validate_topic_configs({"min.compaction.lag.ms": "10"}, broker)
