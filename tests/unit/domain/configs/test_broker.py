from __future__ import annotations

import pytest

from domain.configs.broker import BrokerConfig, attribute_of
from domain.configs.topic_table import TOPIC_CONFIGS
from domain.errors import InvalidConfig


def test_settings_have_the_defaults_of_the_table() -> None:
    broker = BrokerConfig()
    for name, definition in BrokerConfig.definitions.items():
        assert broker.value(name) == definition.default
    assert broker.num_partitions == 1


def test_every_default_is_valid() -> None:
    for definition in BrokerConfig.definitions.values():
        text = definition.format(definition.default)
        if text is not None:
            assert definition.parse(text) == definition.default


def test_attributes_have_the_names_of_their_settings() -> None:
    for table in BrokerConfig.__bases__:
        for attribute in table.__annotations__:
            assert attribute == attribute_of(vars(table)[attribute].name)


def test_texts_are_parsed() -> None:
    broker = BrokerConfig({"num.partitions": " 3 ", "delete.topic.enable": "False"})
    assert broker.num_partitions == 3
    assert broker.delete_topic_enable is False


def test_a_wrong_value_is_refused() -> None:
    with pytest.raises(InvalidConfig, match=r"Invalid value 0 .* num.partitions: .* at least 1"):
        BrokerConfig({"num.partitions": "0"})


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="Unknown broker setting: nope"):
        BrokerConfig().value("nope")


@pytest.mark.parametrize(
    "name, words",
    [
        ("flush", "one of commit, interval, os"),
        ("log.cleanup.policy", "any of compact, delete, or empty"),
        ("group.consumer.assignors", "any of uniform, range"),
        ("delete.topic.enable", "true or false"),
        ("num.partitions", "a whole number between 1 and 2147483647"),
        ("compression.gzip.level", "a whole number between 1 and 9, or -1"),
        ("log.cleaner.dedupe.buffer.size", "a whole number of at least 1048577"),
        ("log.cleaner.io.buffer.load.factor", "a number between 0.1 and 1"),
        ("log.cleaner.min.cleanable.ratio", "a number between 0 and 1"),
        ("log.retention.ms", "a whole number of at least -1"),
        ("listeners", "a list, separated by commas"),
        ("storage", "text"),
    ],
)
def test_a_setting_describes_its_values(name: str, words: str) -> None:
    assert BrokerConfig.definitions[name].allowed() == words


def test_a_broker_without_assignors_is_refused() -> None:
    with pytest.raises(InvalidConfig, match=r"must not be empty.* include: \[uniform, range]$"):
        BrokerConfig({"group.consumer.assignors": ""})


def test_segments_of_the_offsets_topic_have_the_minimum_of_segment_bytes() -> None:
    minimum = TOPIC_CONFIGS["segment.bytes"].minimum
    assert BrokerConfig.definitions["offsets.topic.segment.bytes"].minimum == minimum


def test_dynamic_configs_override_static_settings() -> None:
    broker = BrokerConfig({"message.max.bytes": "30"})
    broker.configure({}, {"message.max.bytes": "20"})
    assert broker.message_max_bytes == 20
    broker.configure({"message.max.bytes": "10"}, {"message.max.bytes": "20"})
    assert broker.message_max_bytes == 10
    broker.configure({}, {})
    assert broker.message_max_bytes == 30


def test_only_dynamic_settings_can_change() -> None:
    broker = BrokerConfig()
    broker.configure({"num.partitions": "9"}, {"num.partitions": "9"})
    assert broker.num_partitions == 1
