from __future__ import annotations

import pytest

from domain.configs.broker import BrokerConfig
from domain.configs.resource import Resource, ResourceKind
from domain.configs.topic_table import TOPIC_CONFIGS
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.config_requests import (
    BROKER,
    GROUP,
    LOGGER,
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
    [result] = client.request(request, version).results
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
    [config] = client.request(bare, version).results[0].configs
    assert (config.synonyms, config.documentation or None) == ([], None)


def test_the_response_has_all_settings_of_the_broker(client: FakeClient) -> None:
    """The broker has no loggers."""
    configs = describe(client, BROKER, "1")
    assert configs.keys() == BrokerConfig.definitions.keys()
    partitions = configs["num.partitions"]
    assert (partitions.value, partitions.config_source, partitions.read_only) == ("4", 4, True)
    assert not configs["message.max.bytes"].read_only
    assert describe(client, LOGGER, "1") == {}


def test_a_secret_has_no_value() -> None:
    client = FakeKafka(offsets="postgresql://me:secret@host/db").client()
    [config] = describe(client, BROKER, "1", "offsets").values()
    assert (config.value, config.is_sensitive) == (None, True)
    assert [one.value for one in config.synonyms] == [None]


def test_a_resource_that_appears_thousands_of_times_is_described_once(client: FakeClient) -> None:
    resources = [(BROKER, "1"), (TOPIC, "t"), (GROUP, "g"), (TOPIC, "absent")] * 2000
    results = client.request(described(*resources), 4).results
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
