from __future__ import annotations

import pytest

from domain.configs.broker import BrokerConfig
from domain.configs.group import GROUP_CONFIGS
from domain.configs.resource import Resource, ResourceKind
from domain.configs.topic_table import TOPIC_CONFIGS
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.config_requests import (
    BROKER,
    GROUP,
    LOGGER,
    METRICS,
    SET,
    TOPIC,
    change,
    describe,
    described,
    set_configs,
    value_of,
)

VERSIONS = range(1, 5)


@pytest.mark.parametrize("version", VERSIONS)
def test_all_configs_of_a_topic_are_told(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    kafka.topic("t", retention_ms="7")
    [result] = client.ask(described((TOPIC, "t")), version).results
    assert (result.error_code, result.error_message) == (0, "")
    configs = {config.name: config for config in result.configs}
    assert configs.keys() == TOPIC_CONFIGS.keys()
    retention = configs["retention.ms"]
    assert (retention.value, retention.config_source, retention.read_only) == ("7", 1, False)
    assert retention.config_type == (5 if version >= 3 else 0)
    assert [(one.name, one.value, one.source) for one in retention.synonyms] == [
        ("retention.ms", "7", 1)
    ]


def test_all_settings_of_the_broker_are_told(client: FakeClient) -> None:
    configs = describe(client, BROKER, "1")
    assert configs.keys() == BrokerConfig.definitions.keys()
    partitions = configs["num.partitions"]
    assert (partitions.value, partitions.config_source, partitions.read_only) == ("4", 4, True)
    assert not configs["message.max.bytes"].read_only


def test_of_all_brokers_only_what_is_set_for_them_is_told(client: FakeClient) -> None:
    assert describe(client, BROKER, "") == {}
    set_configs(client, BROKER, "", message_max_bytes="9")
    [config] = describe(client, BROKER, "").values()
    assert (config.name, config.value, config.config_source) == ("message.max.bytes", "9", 3)


def test_a_group_need_not_exist_to_have_configs(client: FakeClient) -> None:
    assert describe(client, GROUP, "g").keys() == GROUP_CONFIGS.keys()
    assert value_of(client, GROUP, "g", "consumer.session.timeout.ms") == ("45000", 5)
    set_configs(client, GROUP, "g", consumer_session_timeout_ms="50000")
    assert value_of(client, GROUP, "g", "consumer.session.timeout.ms") == ("50000", 8)


def test_only_the_configs_that_are_named_are_told(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("t")
    keys = ["retention.ms", "cleanup.policy", "retention.ms", "no.such.config"]
    [result] = client.ask(described((TOPIC, "t"), keys=keys), 4).results
    assert [config.name for config in result.configs] == ["cleanup.policy", "retention.ms"]
    [result] = client.ask(described((TOPIC, "t"), keys=[]), 4).results
    assert len(result.configs) == len(TOPIC_CONFIGS)


@pytest.mark.parametrize("version", VERSIONS)
def test_synonyms_and_documentation_come_when_asked_for(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    kafka.topic("t")
    bare = described((TOPIC, "t"), keys=["compression.type"], synonyms=False)
    [config] = client.ask(bare, version).results[0].configs
    assert (config.synonyms, config.documentation or None) == ([], None)
    if version >= 3:
        full = described((TOPIC, "t"), keys=["compression.type"], documentation=True)
        [config] = client.ask(full, version).results[0].configs
        assert [one.name for one in config.synonyms] == ["compression.type"]
        assert "not built yet" in str(config.documentation).lower()


def test_a_secret_is_not_told() -> None:
    client = FakeKafka(offsets="postgresql://me:secret@host/db").client()
    [config] = describe(client, BROKER, "1", "offsets").values()
    assert (config.value, config.is_sensitive) == (None, True)
    assert [one.value for one in config.synonyms] == [None]


_UNKNOWN_TYPE = "This most likely occurs because of a request being malformed"


@pytest.mark.parametrize(
    "kind, name, code, words",
    [
        (TOPIC, "absent", 3, ""),
        (TOPIC, "a b", 17, "Topic name is invalid: 'a b' contains one or more characters"),
        (TOPIC, "", 17, "Topic name is invalid: the empty string is not allowed"),
        (BROKER, "7", 42, "Unexpected broker id, expected 1 or empty string, but received 7"),
        (BROKER, "x", 42, "Broker id must be an integer, but it is: x"),
        (GROUP, "", 42, "Group name must not be empty"),
        (LOGGER, "", 42, "Broker id must not be empty"),
        (LOGGER, "7", 42, "Unexpected broker id, expected 1 but received 7"),
        (LOGGER, "x", 42, "Broker id must be an integer, but it is: x"),
        (METRICS, "m", 42, "Metrics of clients are not collected"),
        (0, "x", 42, _UNKNOWN_TYPE),
        (99, "x", 42, _UNKNOWN_TYPE),
    ],
)
def test_what_is_not_there_is_refused(
    client: FakeClient, kind: int, name: str, code: int, words: str
) -> None:
    [result] = client.ask(described((kind, name)), 4).results
    assert (result.error_code, result.resource_type, result.resource_name) == (code, kind, name)
    assert str(result.error_message).startswith(words)
    assert result.configs == []


def test_one_unknown_type_refuses_the_whole_request(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("t")
    results = client.ask(described((TOPIC, "t"), (99, "x")), 4).results
    assert [one.error_code for one in results] == [42, 42]


def test_the_other_resources_are_told_beside_a_refused_one(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.topic("t")
    resources = [(TOPIC, "absent"), (TOPIC, "t"), (BROKER, "1")]
    results = client.ask(described(*resources), 4).results
    assert [one.error_code for one in results] == [3, 0, 0]


def test_what_is_named_thousands_of_times_is_told_once(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.topic("t")
    resources = [(BROKER, "1"), (TOPIC, "t"), (GROUP, "g"), (TOPIC, "absent")] * 2000
    results = client.ask(described(*resources), 4).results
    assert [(one.resource_type, one.resource_name) for one in results] == resources[:4]


def test_what_topics_do_not_set_is_described_once_for_all(
    kafka: FakeKafka, client: FakeClient
) -> None:
    for name in ("plain", "other"):
        kafka.topic(name)
    kafka.topic("own", retention_ms="7")
    describe = kafka.broker.configs.describe_configs.describe

    def entries(name: str) -> dict[str, object]:
        return {one.name: one for one in describe(Resource(ResourceKind.TOPIC, name))}

    plain, own = entries("plain"), entries("own")
    assert entries("other") == plain
    assert {name for name in plain if own[name] is not plain[name]} == {"retention.ms"}
    set_configs(client, BROKER, "", message_max_bytes="20")
    assert value_of(client, TOPIC, "plain", "max.message.bytes") == ("20", 3)
    assert value_of(client, TOPIC, "own", "max.message.bytes") == ("20", 3)


def test_a_broker_has_no_loggers_to_be_changed(client: FakeClient) -> None:
    assert describe(client, LOGGER, "1") == {}


def test_what_goes_first_is_told_first(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("t")
    set_configs(client, BROKER, "", message_max_bytes="20")
    assert value_of(client, TOPIC, "t", "max.message.bytes") == ("20", 3)
    set_configs(client, BROKER, "1", message_max_bytes="10")
    assert value_of(client, TOPIC, "t", "max.message.bytes") == ("10", 2)
    set_configs(client, TOPIC, "t", max_message_bytes="5")
    config = describe(client, TOPIC, "t")["max.message.bytes"]
    assert (config.value, config.config_source) == ("5", 1)
    assert [(one.value, one.source) for one in config.synonyms] == [
        ("5", 1), ("10", 2), ("20", 3), ("1048588", 5)
    ]  # fmt: skip
    assert change(client, TOPIC, "t", ("max.message.bytes", SET, "x"))[0] == 40
