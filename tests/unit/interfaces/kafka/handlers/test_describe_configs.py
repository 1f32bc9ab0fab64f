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
    TOPIC,
    describe,
    described,
    set_configs,
    value_of,
)


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka(num_partitions="4")
    kafka.topic("t", retention_ms="7")
    return kafka


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_the_response_has_all_configs_of_a_topic(client: FakeClient, version: int) -> None:
    """With types and documentation from version 3 on."""
    request = described((TOPIC, "t"), documentation=version >= 3)
    [result] = client.ask(request, version).results
    assert (result.error_code, result.error_message) == (0, "")
    configs = {config.name: config for config in result.configs}
    assert configs.keys() == TOPIC_CONFIGS.keys()
    retention = configs["retention.ms"]
    assert (retention.value, retention.config_source, retention.read_only) == ("7", 1, False)
    assert (retention.config_type, bool(retention.documentation)) == (
        (5, True) if version >= 3 else (0, False)
    )
    assert [(one.name, one.value, one.source) for one in retention.synonyms] == [
        ("retention.ms", "7", 1)
    ]
    bare = described((TOPIC, "t"), keys=["compression.type"], synonyms=False)
    [config] = client.ask(bare, version).results[0].configs
    assert (config.synonyms, config.documentation or None) == ([], None)


def test_the_response_has_all_settings_of_the_broker(client: FakeClient) -> None:
    configs = describe(client, BROKER, "1")
    assert configs.keys() == BrokerConfig.definitions.keys()
    partitions = configs["num.partitions"]
    assert (partitions.value, partitions.config_source, partitions.read_only) == ("4", 4, True)
    assert not configs["message.max.bytes"].read_only


def test_all_brokers_have_only_the_settings_that_are_set_for_them(client: FakeClient) -> None:
    assert describe(client, BROKER, "") == {}
    set_configs(client, BROKER, "", message_max_bytes="9")
    [config] = describe(client, BROKER, "").values()
    assert (config.name, config.value, config.config_source) == ("message.max.bytes", "9", 3)


def test_configs_exist_without_their_group_and_loggers_are_none(client: FakeClient) -> None:
    assert describe(client, GROUP, "g").keys() == GROUP_CONFIGS.keys()
    assert value_of(client, GROUP, "g", "consumer.session.timeout.ms") == ("45000", 5)
    set_configs(client, GROUP, "g", consumer_session_timeout_ms="50000")
    assert value_of(client, GROUP, "g", "consumer.session.timeout.ms") == ("50000", 8)
    assert describe(client, LOGGER, "1") == {}


def test_keys_select_configs_and_no_keys_select_all(client: FakeClient) -> None:
    keys = ["retention.ms", "cleanup.policy", "retention.ms", "no.such.config"]
    [result] = client.ask(described((TOPIC, "t"), keys=keys), 4).results
    assert [config.name for config in result.configs] == ["cleanup.policy", "retention.ms"]
    [result] = client.ask(described((TOPIC, "t"), keys=[]), 4).results
    assert len(result.configs) == len(TOPIC_CONFIGS)


def test_a_secret_has_no_value() -> None:
    client = FakeKafka(offsets="postgresql://me:secret@host/db").client()
    [config] = describe(client, BROKER, "1", "offsets").values()
    assert (config.value, config.is_sensitive) == (None, True)
    assert [one.value for one in config.synonyms] == [None]


@pytest.mark.parametrize(
    "kind, name, code",
    [
        *((TOPIC, "absent", 3), (TOPIC, "a b", 17), (TOPIC, "", 17)),
        *((BROKER, "7", 42), (BROKER, "x", 42), (GROUP, "", 42)),
        *((LOGGER, "", 42), (LOGGER, "7", 42), (LOGGER, "x", 42)),
        *((METRICS, "m", 42), (0, "x", 42), (99, "x", 42)),
    ],
)
def test_each_refusal_has_its_code_and_only_an_unknown_type_refuses_the_other_resources(
    client: FakeClient, kind: int, name: str, code: int
) -> None:
    refused, other = client.ask(described((kind, name), (TOPIC, "t")), 4).results
    assert (refused.error_code, refused.resource_type, refused.resource_name) == (code, kind, name)
    assert refused.configs == []
    assert other.error_code == (42 if kind in (0, 99) else 0)


def test_a_resource_that_appears_thousands_of_times_is_described_once(client: FakeClient) -> None:
    resources = [(BROKER, "1"), (TOPIC, "t"), (GROUP, "g"), (TOPIC, "absent")] * 2000
    results = client.ask(described(*resources), 4).results
    assert [(one.resource_type, one.resource_name) for one in results] == resources[:4]


def test_topics_share_the_descriptions_of_configs_that_they_do_not_set(
    kafka: FakeKafka, client: FakeClient
) -> None:
    for name in ("plain", "other"):
        kafka.topic(name)

    def entries(name: str) -> dict[str, object]:
        resource = Resource(ResourceKind.TOPIC, name)
        described = kafka.broker.configs.describe_configs.describe(resource)
        return {one.name: one for one in described}

    plain, own = entries("plain"), entries("t")
    assert entries("other") == plain
    assert {name for name in plain if own[name] is not plain[name]} == {"retention.ms"}
    set_configs(client, BROKER, "", message_max_bytes="20")
    for name in ("plain", "t"):
        assert value_of(client, TOPIC, name, "max.message.bytes") == ("20", 3)


def test_synonyms_are_in_the_order_of_their_precedence(client: FakeClient) -> None:
    set_configs(client, BROKER, "", message_max_bytes="20")
    set_configs(client, BROKER, "1", message_max_bytes="10")
    assert value_of(client, TOPIC, "t", "max.message.bytes") == ("10", 2)
    set_configs(client, TOPIC, "t", max_message_bytes="5")
    config = describe(client, TOPIC, "t")["max.message.bytes"]
    assert (config.value, config.config_source) == ("5", 1)
    assert [(one.value, one.source) for one in config.synonyms] == [
        ("5", 1), ("10", 2), ("20", 3), ("1048588", 5)
    ]  # fmt: skip
