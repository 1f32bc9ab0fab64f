"""Sources of values, in the order of DescribeConfigs in Apache Kafka 4.2."""

from __future__ import annotations

from domain.configs.broker import BrokerConfig
from domain.configs.entry import ConfigEntry, broker_entry
from domain.configs.group import describe_group_configs
from domain.configs.settings.definition import Source
from domain.configs.topic import describe_topic_configs


def shown(entry: ConfigEntry) -> tuple[str | None, Source, list[tuple[str, str | None, str]]]:
    places = [(one.name, one.text, one.source.name) for one in entry.synonyms]
    return entry.text, entry.source, places


def of_topic(name: str, overrides: dict[str, str], broker: BrokerConfig) -> ConfigEntry:
    [entry] = [one for one in describe_topic_configs(overrides, broker) if one.name == name]
    return entry


def of_broker(name: str, broker: BrokerConfig) -> ConfigEntry:
    return broker_entry(BrokerConfig.definitions[name], broker)


def test_a_topic_config_lists_all_places_where_it_is_set() -> None:
    broker = BrokerConfig({"message.max.bytes": "30"})
    broker.configure({"message.max.bytes": "10"}, {"message.max.bytes": "20"})
    assert shown(of_topic("max.message.bytes", {"max.message.bytes": " 5 "}, broker)) == (
        "5",
        Source.TOPIC,
        [
            ("max.message.bytes", "5", "TOPIC"),
            ("message.max.bytes", "10", "DYNAMIC_BROKER"),
            ("message.max.bytes", "20", "DYNAMIC_DEFAULT_BROKER"),
            ("message.max.bytes", "30", "STATIC_BROKER"),
            ("message.max.bytes", "1048588", "DEFAULT"),
        ],
    )


def test_a_default_in_another_unit_is_converted() -> None:
    broker = BrokerConfig({"log.retention.hours": "2"})
    assert shown(of_topic("retention.ms", {}, broker)) == ("7200000", Source.DEFAULT, [])
    broker.configure({}, {"log.retention.ms": "1000"})
    assert shown(of_topic("retention.ms", {}, broker)) == (
        "1000",
        Source.DYNAMIC_DEFAULT_BROKER,
        [
            ("log.retention.ms", "1000", "DYNAMIC_DEFAULT_BROKER"),
            ("log.retention.hours", "2", "STATIC_BROKER"),
            ("log.retention.hours", "168", "DEFAULT"),
        ],
    )
    assert shown(of_broker("log.retention.hours", broker))[2] == [
        ("log.retention.hours", "2", "STATIC_BROKER"),
        ("log.retention.hours", "168", "DEFAULT"),
    ]


def test_a_topic_config_without_a_broker_default_is_set_in_the_topic_only() -> None:
    name = "leader.replication.throttled.replicas"
    assert shown(of_topic(name, {}, BrokerConfig())) == ("", Source.DEFAULT, [])
    assert shown(of_topic(name, {name: "0:1"}, BrokerConfig()))[2] == [(name, "0:1", "TOPIC")]


def test_a_secret_is_not_returned() -> None:
    broker = BrokerConfig({"offsets": "postgresql://me:secret@host/db"})
    assert shown(of_broker("offsets", broker)) == (
        None,
        Source.STATIC_BROKER,
        [("offsets", None, "STATIC_BROKER")],
    )


def test_a_group_config_has_its_own_name_for_the_default() -> None:
    broker = BrokerConfig({"group.consumer.session.timeout.ms": "50000"})
    heartbeat, session = describe_group_configs({"consumer.heartbeat.interval.ms": "7000"}, broker)
    assert shown(heartbeat)[2] == [("consumer.heartbeat.interval.ms", "7000", "GROUP")]
    assert shown(session)[2] == [("consumer.session.timeout.ms", "50000", "DEFAULT")]


def test_the_documentation_of_a_setting_without_effect_names_that() -> None:
    definitions = BrokerConfig.definitions
    assert "no effect" not in definitions["message.max.bytes"].documentation
    preallocate = definitions["log.preallocate"].documentation
    assert preallocate.endswith("(No effect in Ottla: there are no segment files.)")
