"""Several brokers are one Kafka cluster: metadata, clients of any broker, what admins change."""

from __future__ import annotations

import json
import os
import subprocess
from base64 import b64encode
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer, ThrottleEvent
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from tests.e2e import test_java
from tests.e2e.admin.cli.conftest import Ottla
from tests.e2e.broker_process import PATIENCE_S, command, wait_until
from tests.e2e.cluster.brokers import Brokers
from tests.e2e.cluster.conftest import NODE_IDS, NewTopic
from tests.e2e.conftest import unused_topic_name
from tests.e2e.librdkafka import deliver, producer, read_values
from tests.e2e.line_process import LineProcess
from tests.e2e.node_packages import kafkajs_command
from tests.e2e.quotas import set_quota

USER, PASSWORD = "ann", "PaSs-of-ann-7301"


def test_metadata_has_all_brokers_and_their_leaders(cluster: Brokers, new_topic: NewTopic) -> None:
    topic = new_topic()
    seen = [cluster.seen_by(one, topic) for one in NODE_IDS]
    assert seen[0] == seen[1] == seen[2]
    assert seen[0].nodes == cluster.addresses
    assert seen[0].controller == min(NODE_IDS)
    assert Counter(seen[0].leaders(topic)) == dict.fromkeys(NODE_IDS, 2)


@pytest.mark.parametrize("node_id", NODE_IDS)
def test_librdkafka_uses_any_broker(cluster: Brokers, new_topic: NewTopic, node_id: int) -> None:
    topic = new_topic()
    sender = producer(cluster[node_id].bootstrap)
    for partition in range(6):
        deliver(sender, topic, b"%d" % partition, partition=partition)
    other = cluster[node_id % 3 + 1].bootstrap
    for partition in range(6):
        assert read_values(other, topic, 1, partition) == [b"%d" % partition]


def test_kafkajs_uses_any_broker(cluster: Brokers, new_topic: NewTopic, tmp_path: Path) -> None:
    topic = new_topic()
    command_, where = kafkajs_command("stories.js")
    node = LineProcess(command_, tmp_path / "stderr", os.environ | where)
    messages = [
        {"value": b64encode(b"%d" % partition).decode(), "partition": partition}
        for partition in range(6)
    ]
    for node_id in NODE_IDS:
        story: dict[str, Any] = {"story": "send", "topic": topic, "messages": messages}
        asked = story | {"bootstrap": cluster[node_id].bootstrap}
        response = json.loads(node.request(json.dumps(asked)))
        assert response["ok"], response
    node.close()
    for partition in range(6):
        assert read_values(cluster.bootstrap, topic, 3, partition) == [b"%d" % partition] * 3


def test_java_uses_any_broker(cluster: Brokers, new_topic: NewTopic, tmp_path: Path) -> None:
    java = LineProcess(test_java.compiled(test_java.VERSIONS[0]), tmp_path / "stderr")
    for node_id in NODE_IDS:
        topic = new_topic(1)
        request = ("producer_defaults", cluster[node_id].bootstrap, topic)
        assert java.request("\t".join(request)) == "ok", java.complaints()
    java.close()


def test_what_one_broker_creates_and_deletes_the_others_know(
    cluster: Brokers, new_topic: NewTopic
) -> None:
    topic = new_topic(3)
    admin = AdminClient({"bootstrap.servers": cluster[2].bootstrap})
    admin.delete_topics([topic])[topic].result(PATIENCE_S)
    wait_until(lambda: not any(cluster.seen_by(one, topic).leaders(topic) for one in NODE_IDS))
    with cluster[3].connect() as client:
        assert client.create_topic(topic, 3) == 0
    wait_until(
        lambda: all(len(cluster.seen_by(one, topic).leaders(topic)) == 3 for one in NODE_IDS)
    )


def test_a_config_takes_effect_on_all_brokers(cluster: Brokers, new_topic: NewTopic) -> None:
    topic = new_topic()
    admin = AdminClient({"bootstrap.servers": cluster[1].bootstrap})
    entry = ConfigEntry("max.message.bytes", "1000", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
    admin.incremental_alter_configs([resource])[resource].result(PATIENCE_S)
    sender = producer(cluster.bootstrap)
    for partition in range(6):
        wait_until(lambda partition=partition: is_too_large(sender, topic, partition))


def is_too_large(sender: Producer, topic: str, partition: int) -> bool:
    errors = deliver(sender, topic, os.urandom(5000), partition=partition).errors
    return [one.code() for one in errors] == [KafkaError.MSG_SIZE_TOO_LARGE]


def test_a_quota_takes_effect_on_all_brokers(cluster: Brokers, new_topic: NewTopic) -> None:
    topic, client_id = new_topic(), unused_topic_name()
    set_quota(cluster[1], client_id, producer_byte_rate=1_000)
    events: list[ThrottleEvent] = []
    sender = producer(cluster.bootstrap, **{"client.id": client_id, "throttle_cb": events.append})

    def all_throttle() -> bool:
        for partition in range(6):
            sender.produce(topic, os.urandom(5_000), partition=partition)
        sender.poll(0.1)
        return {event.broker_id for event in events} == set(NODE_IDS)

    wait_until(all_throttle)
    set_quota(cluster[2], client_id, producer_byte_rate=None)
    sender.purge()


def test_users_and_acls_take_effect_on_all_brokers(cluster: Brokers, new_topic: NewTopic) -> None:
    topic = new_topic()
    admin = AdminClient({"bootstrap.servers": cluster[1].bootstrap})
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    added = UserScramCredentialUpsertion(USER, info, PASSWORD.encode())
    admin.alter_user_scram_credentials([added])[USER].result(PATIENCE_S)
    login = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": USER,
        "sasl.password": PASSWORD,
    }
    sender = producer(cluster.bootstrap_of("LOGIN"), **login)
    assert outcome(sender, topic, 0) == KafkaError.TOPIC_AUTHORIZATION_FAILED
    acl = AclBinding(
        ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, f"User:{USER}", "*",
        AclOperation.WRITE, AclPermissionType.ALLOW,
    )  # fmt: skip
    admin = AdminClient({"bootstrap.servers": cluster[2].bootstrap})
    admin.create_acls([acl])[acl].result(PATIENCE_S)
    for partition in range(6):
        wait_until(lambda partition=partition: outcome(sender, topic, partition) is None)


def outcome(sender: Producer, topic: str, partition: int) -> int | None:
    try:
        errors = deliver(sender, topic, b"x", partition=partition).errors
    except KafkaException as refused:
        return refused.args[0].code()
    return errors[0].code() if errors else None


def test_a_drained_broker_leads_again_after_balancing(
    cluster: Brokers, new_topic: NewTopic
) -> None:
    topic = new_topic()
    tool = Ottla(cluster.bootstrap)
    assert tool.run("cluster", "drain", "3").lines[-1].endswith("broker 3 leads no partition")
    wait_until(lambda: 3 not in cluster.seen_by(1, topic).leaders(topic))
    tool.run("cluster", "balance")
    wait_until(
        lambda: Counter(cluster.seen_by(1, topic).leaders(topic)) == dict.fromkeys(NODE_IDS, 2)
    )


def test_a_second_process_with_a_node_id_is_refused(cluster: Brokers, tmp_path: Path) -> None:
    first = cluster[2]
    done = subprocess.run(
        command("serve", "--listen", "127.0.0.1:0", "--admin", "off", "--set", "node.id=2"),
        cwd=tmp_path, env=first.variables, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert f"in use by process {first.pid} on" in line
    assert set(cluster.seen_by(1).nodes) == set(NODE_IDS)
