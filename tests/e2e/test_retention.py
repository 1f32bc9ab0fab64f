"""Old records disappear, and consumers go on behind them."""

from __future__ import annotations

import json
import time

from confluent_kafka import KafkaError, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    OffsetSpec,
    ResourceType,
)

from tests.e2e.conftest import StartBroker, new_topic
from tests.e2e.librdkafka import (
    PATIENCE_S,
    admin,
    assigned_consumer,
    deliver,
    next_error,
    next_message,
    producer,
)

HOUR_MS = 3_600_000


def start_offset(client: AdminClient, topic: str) -> int:
    place = TopicPartition(topic, 0)
    [found] = client.list_offsets({place: OffsetSpec.earliest()}).values()
    offset: int = found.result(PATIENCE_S).offset
    return offset


def set_config(client: AdminClient, topic: str, name: str, value: str) -> None:
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    for future in client.incremental_alter_configs([resource]).values():
        future.result(PATIENCE_S)


def test_records_expire_by_age_and_by_size(start_broker: StartBroker) -> None:
    broker = start_broker("--set", "log.retention.check.interval.ms=50")
    topic = new_topic(broker, retention__ms="-1")
    now_ms, client = int(time.time() * 1000), admin(broker.bootstrap)
    for age_ms in (3 * HOUR_MS, 2 * HOUR_MS, 0, 0, 0):
        sender = producer(broker.bootstrap)
        deliver(sender, topic, b"%d" % age_ms, partition=0, timestamp=now_ms - age_ms)

    with assigned_consumer(broker.bootstrap, topic) as consumer:
        assert next_message(consumer).value() == b"%d" % (3 * HOUR_MS)
        set_config(client, topic, "retention.ms", str(HOUR_MS))
        line = json.loads(broker.log_line("records_expired"))
        assert (line["topic"], line["partitions"], line["reason"]) == (topic, 1, "time")
        assert start_offset(client, topic) == 2

    with assigned_consumer(broker.bootstrap, topic, offset=1) as consumer:
        assert next_error(consumer).code() == KafkaError._AUTO_OFFSET_RESET
    with assigned_consumer(broker.bootstrap, topic, auto_offset_reset="earliest") as consumer:
        assert [next_message(consumer).offset() for _ in range(3)] == [2, 3, 4]

    set_config(client, topic, "retention.bytes", "1")
    broker.log_line('"size"')
    assert start_offset(client, topic) == 4
    broker.kill()
    broker.start()
    assert start_offset(admin(broker.bootstrap), topic) == 4
