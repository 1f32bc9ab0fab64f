"""Configs of topics, brokers and groups, as confluent-kafka, KafkaJS and Kafka's own tool do it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from confluent_kafka import KafkaError
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ResourceType,
)

from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import Broker, StartBroker, new_topic, unused_topic_name
from tests.e2e.groups.kafka_tools import Tool, run_tool
from tests.e2e.librdkafka import PATIENCE_S, admin, deliver, producer
from tests.e2e.line_process import LineProcess
from tests.e2e.node_packages import kafkajs_command
from tests.e2e.test_kafkajs import KafkaJSError

#: Each of several learns of a change for itself, as in Kafka: see cluster/test_cluster.py.
ONE_BROKER = pytest.mark.parametrize("group_broker", ["lmdb"], indirect=True)
SESSION = "consumer.session.timeout.ms"
#: KafkaJS's numbers for types of resources.
TOPIC, BROKER = 2, 4


def incrementally(
    bootstrap: str, kind: ResourceType, name: str, value: str | None, key: str, operation: str
) -> None:
    entry = ConfigEntry(key, value, incremental_operation=AlterConfigOpType[operation])
    resource = ConfigResource(kind, name, incremental_configs=[entry])
    client = admin(bootstrap)  # without a name it ends at once
    [future] = client.incremental_alter_configs([resource]).values()
    assert future.result(PATIENCE_S) is None


def described(bootstrap: str, kind: ResourceType, name: str) -> dict[str, Any]:
    resource = ConfigResource(kind, name)
    client = admin(bootstrap)
    [future] = client.describe_configs([resource]).values()
    found: dict[str, Any] = future.result(PATIENCE_S)
    return found


def config(bootstrap: str, kind: ResourceType, name: str, key: str) -> tuple[str, ConfigSource]:
    entry = described(bootstrap, kind, name)[key]
    return entry.value, ConfigSource(entry.source)


# ---- confluent-kafka


def test_a_topic_config_is_set_described_and_deleted(bootstrap: str, topic: str) -> None:
    key = "retention.ms"
    incrementally(bootstrap, ResourceType.TOPIC, topic, "1000", key, "SET")
    entry = described(bootstrap, ResourceType.TOPIC, topic)[key]
    assert (entry.value, entry.is_default, entry.is_read_only) == ("1000", False, False)
    incrementally(bootstrap, ResourceType.TOPIC, topic, None, key, "DELETE")
    expected = "604800000", ConfigSource.DEFAULT_CONFIG
    assert config(bootstrap, ResourceType.TOPIC, topic, key) == expected


def test_list_values_are_appended_and_subtracted(bootstrap: str, topic: str) -> None:
    key = "cleanup.policy"
    incrementally(bootstrap, ResourceType.TOPIC, topic, "compact", key, "APPEND")
    assert config(bootstrap, ResourceType.TOPIC, topic, key)[0] == "delete,compact"
    incrementally(bootstrap, ResourceType.TOPIC, topic, "delete", key, "SUBTRACT")
    assert config(bootstrap, ResourceType.TOPIC, topic, key)[0] == "compact"


@ONE_BROKER
def test_a_smaller_limit_applies_to_the_next_record(bootstrap: str, topic: str) -> None:
    sender = producer(bootstrap)
    assert deliver(sender, topic, b"x" * 500).errors == []
    incrementally(bootstrap, ResourceType.TOPIC, topic, "100", "max.message.bytes", "SET")
    [error] = deliver(sender, topic, b"x" * 500).errors
    assert error.code() == KafkaError.MSG_SIZE_TOO_LARGE


def test_configs_survive_a_restart_of_the_broker(start_broker: StartBroker) -> None:
    broker: BrokerProcess = start_broker()
    cases = (
        (ResourceType.BROKER, "1", "message.max.bytes", "2000"),
        (ResourceType.BROKER, "1", "log.retention.ms", "3000"),
        (ResourceType.GROUP, "a-group", SESSION, "50000"),
    )
    for kind, name, key, value in cases:
        incrementally(broker.bootstrap, kind, name, value, key, "SET")
    broker.kill()
    broker.start()
    for kind, name, key, value in cases:
        assert config(broker.bootstrap, kind, name, key)[0] == value
    topic = new_topic(broker)
    expected = "2000", ConfigSource.DYNAMIC_BROKER_CONFIG
    assert config(broker.bootstrap, ResourceType.TOPIC, topic, "max.message.bytes") == expected


# ---- KafkaJS

Admin = Callable[..., Any]


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LineProcess]:
    command, where = kafkajs_command("stories.js")
    process = LineProcess(command, tmp_path_factory.mktemp("node") / "stderr", os.environ | where)
    yield process
    process.close()


@pytest.fixture
def kafkajs(node: LineProcess, bootstrap: str) -> Admin:
    def call(method: str, **argument: Any) -> Any:
        fields = {"story": "admin", "bootstrap": bootstrap, "method": method, "argument": argument}
        response = json.loads(node.request(json.dumps(fields)))
        if not response["ok"]:
            raise KafkaJSError(response["error"])
        return response["result"]

    return call


def test_kafkajs_replaces_and_describes_topic_configs(kafkajs: Admin, topic: str) -> None:
    entries = [{"name": "retention.ms", "value": "1000"}]
    kafkajs("alterConfigs", resources=[{"type": TOPIC, "name": topic, "configEntries": entries}])
    query = {"type": TOPIC, "name": topic, "configNames": ["retention.ms", "segment.bytes"]}
    response = kafkajs("describeConfigs", resources=[query], includeSynonyms=True)
    [resource] = response["resources"]
    configs = {entry["configName"]: entry for entry in resource["configEntries"]}
    assert configs.keys() == {"retention.ms", "segment.bytes"}
    assert configs["retention.ms"]["configValue"] == "1000"
    assert configs["retention.ms"]["configSource"] == 1
    assert configs["segment.bytes"]["configSynonyms"][0]["configName"] == "log.segment.bytes"


def test_kafkajs_describes_all_settings_of_the_broker(kafkajs: Admin, broker: Broker) -> None:
    node_id = str(kafkajs("describeCluster")["controller"])
    query = {"type": BROKER, "name": node_id}
    [resource] = kafkajs("describeConfigs", resources=[query])["resources"]
    configs = {entry["configName"]: entry for entry in resource["configEntries"]}
    assert configs["node.id"]["configValue"] == node_id
    assert configs["node.id"]["readOnly"]


def test_kafkajs_gets_errors_for_invalid_configs(kafkajs: Admin, topic: str) -> None:
    entries = [{"name": "retention.ms", "value": "soon"}]
    query = {"type": TOPIC, "name": topic, "configEntries": entries}
    with pytest.raises(KafkaJSError) as refused:
        kafkajs("alterConfigs", resources=[query])
    assert "INVALID_CONFIG" in refused.value.kinds


# ---- Kafka's own kafka-configs


@pytest.fixture
def kafka_configs(tools: LineProcess, bootstrap: str) -> Tool:
    return partial(run_tool, tools, "kafka-configs", bootstrap)


@ONE_BROKER
def test_kafkas_tool_changes_and_describes_a_topic(kafka_configs: Tool, topic: str) -> None:
    of_topic = ("--entity-type", "topics", "--entity-name", topic)
    added = "retention.ms=1000,cleanup.policy=[compact,delete]"
    assert "Completed updating" in kafka_configs("--alter", *of_topic, "--add-config", added)
    printed = kafka_configs("--describe", *of_topic)
    assert "retention.ms=1000 " in printed
    assert "cleanup.policy=compact,delete " in printed
    assert "DEFAULT_CONFIG:log.cleanup.policy=delete" in printed
    printed = kafka_configs("--alter", *of_topic, "--delete-config", "retention.ms")
    assert "Completed updating" in printed
    printed = kafka_configs("--describe", "--all", *of_topic)
    assert "retention.ms=604800000 " in printed
    assert "max.message.bytes=1048588 " in printed


@ONE_BROKER
def test_kafkas_tool_changes_all_brokers_and_read_only_configs_are_refused(
    kafka_configs: Tool,
) -> None:
    brokers = ("--entity-type", "brokers")
    key = "log.segment.delete.delay.ms"
    default = (*brokers, "--entity-default")
    printed = kafka_configs("--alter", *default, "--add-config", f"{key}=5000")
    assert "Completed updating" in printed
    assert f"{key}=5000 " in kafka_configs("--describe", *default)
    assert "Completed updating" in kafka_configs("--alter", *default, "--delete-config", key)
    printed = kafka_configs("--alter", *default, "--add-config", "num.partitions=9")
    assert "Cannot update these configs dynamically: Set(num.partitions)" in printed


@ONE_BROKER
def test_kafkas_tool_changes_a_group(kafka_configs: Tool, bootstrap: str) -> None:
    group = unused_topic_name()
    of_group = ("--entity-type", "groups", "--entity-name", group)
    printed = kafka_configs("--alter", *of_group, "--add-config", f"{SESSION}=50000")
    assert "Completed updating" in printed
    expected = "50000", ConfigSource.GROUP_CONFIG
    assert config(bootstrap, ResourceType.GROUP, group, SESSION) == expected


@ONE_BROKER
def test_kafkas_tool_sets_describes_and_removes_quotas(kafka_configs: Tool) -> None:
    user, client = unused_topic_name(), unused_topic_name()
    both = ("--entity-type", "users", "--entity-name", user)
    both = (*both, "--entity-type", "clients", "--entity-name", client)
    cases = (
        ("users", ("--entity-name", user), "consumer_byte_rate", f"user-principal '{user}'"),
        ("clients", ("--entity-default",), "producer_byte_rate", "the default client-id"),
        ("ips", ("--entity-name", "192.0.2.1"), "connection_creation_rate", "ip '192.0.2.1'"),
    )
    for entity_type, named, key, printed_name in cases:
        of_entity = ("--entity-type", entity_type, *named)
        printed = kafka_configs("--alter", *of_entity, "--add-config", f"{key}=1000000000")
        assert "Completed updating" in printed
        printed = kafka_configs("--describe", *of_entity)
        assert f"{printed_name} are {key}=1.0E9" in printed
        printed = kafka_configs("--alter", *of_entity, "--delete-config", key)
        assert "Completed updating" in printed
        assert f"{key}=" not in kafka_configs("--describe", *of_entity)
    added = "request_percentage=99.5,controller_mutation_rate=1000"
    assert "Completed updating" in kafka_configs("--alter", *both, "--add-config", added)
    printed = kafka_configs("--describe", *both)
    assert "controller_mutation_rate=1000.0" in printed and "request_percentage=99.5" in printed
    printed = kafka_configs("--alter", *both, "--add-config", "producer_byte_rate=-1")
    assert "Quota producer_byte_rate must be greater than 0" in printed
    keys = "request_percentage,controller_mutation_rate"
    assert "Completed updating" in kafka_configs("--alter", *both, "--delete-config", keys)
