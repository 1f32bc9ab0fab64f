"""__consumer_offsets, read by real clients: `--set offsets.topic=on`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

from domain.topics.topic import OFFSETS_TOPIC
from tests.e2e.broker_process import PATIENCE_S, BrokerProcess
from tests.e2e.conftest import StartBroker, new_topic
from tests.e2e.librdkafka import next_message
from tests.e2e.test_offset_storage import commit
from tests.fakes.offsets_topic import Committed, Generation, decoded
from tests.golden.capture_offsets_topic import FORMATTERS, printed, story
from tests.oracle.kafka import KafkaNotFound, find_jars

ON = ("--set", "offsets.topic=on", "--set", "offsets.topic.num.partitions=3")


def wait_for_partitions(broker: BrokerProcess, count: int, topic: str = OFFSETS_TOPIC) -> None:
    """The topic is created, or deleted, soon after the start."""
    with broker.connect() as raw:
        for _ in range(2_000):
            if raw.usable_partitions(topic, max(count, 1)) == count:
                return
    raise AssertionError(f"{topic} never had {count} partitions")


def reader(broker: BrokerProcess) -> Consumer:
    """A consumer of a group of its own."""
    client = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "reader",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    client.subscribe([OFFSETS_TOPIC])
    return client


def next_of(client: Consumer, group_id: str) -> Committed | Generation:
    while True:
        message = next_message(client)
        key = message.key()
        assert isinstance(key, bytes)
        record = decoded(key, message.value())
        if record.group_id == group_id:
            return record


def test_a_group_reads_what_another_one_commits(start_broker: StartBroker) -> None:
    broker = start_broker(*ON)
    wait_for_partitions(broker, 3)
    topic = new_topic(broker, 2)
    commit(broker, "g", topic, 5)
    with closing(reader(broker)) as client:
        assert next_of(client, "g") == Committed("g", topic, 0, 5)
        commit(broker, "g", topic, 6)
        assert next_of(client, "g") == Committed("g", topic, 0, 6)
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        to = ConsumerGroupTopicPartitions("g", [TopicPartition(topic, 1, 2)])
        for future in admin.alter_consumer_group_offsets([to]).values():
            future.result(PATIENCE_S)
        assert next_of(client, "g") == Committed("g", topic, 1, 2)
        admin.delete_consumer_groups(["g"])["g"].result(PATIENCE_S)
        deleted = {next_of(client, "g") for _ in range(3)}
        assert deleted == {
            Committed("g", topic, 0, None),
            Committed("g", topic, 1, None),
            Generation("g", None),
        }
    assert broker.terminate() == 0, broker.log()
    broker.arguments = []
    broker.start()
    wait_for_partitions(broker, 0)


@pytest.mark.long
def test_kafkas_formatters_print_the_topic(start_broker: StartBroker) -> None:
    try:
        jars: Path = find_jars()
    except KafkaNotFound as reason:
        pytest.skip(str(reason))
    broker = start_broker("--set", "offsets.topic=on", "--set", "offsets.topic.num.partitions=1")
    wait_for_partitions(broker, 1)
    story(broker.address)
    offsets, groups = (printed(broker.address, jars, name) for name in FORMATTERS.values())
    assert [one["value"] is None for one in offsets] == [False] * 6 + [True] * 4
    names = [one["key"]["data"]["group"] for one in groups]
    of_story = [name for name in names if not name.startswith("console-consumer")]
    assert of_story == ["dynamic", "dynamic", "static", "reader", "dynamic", "static"]
