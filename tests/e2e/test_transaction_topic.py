"""__transaction_state, read by real clients: `--set offsets.topic=on`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from domain.topics.topic import TRANSACTION_TOPIC
from tests.e2e.broker_process import PATIENCE_S, BrokerProcess
from tests.e2e.conftest import StartBroker, new_topic
from tests.e2e.librdkafka import next_message
from tests.e2e.test_offsets_topic import wait_for_partitions
from tests.fakes.transaction_topic import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    EMPTY,
    ONGOING,
    Written,
    decoded,
)
from tests.golden.capture_offsets_topic import printed
from tests.golden.capture_transaction_topic import FORMATTER, story
from tests.oracle.kafka import KafkaNotFound, find_jars

ON = ("--set", "offsets.topic=on", "--set", "offsets.topic.num.partitions=1")


def started(start_broker: StartBroker, partitions: int) -> BrokerProcess:
    more = ("--set", f"transaction.state.log.num.partitions={partitions}")
    broker = start_broker(*ON, *more)
    wait_for_partitions(broker, partitions, TRANSACTION_TOPIC)
    return broker


def test_a_consumer_reads_the_states_of_a_producer(start_broker: StartBroker) -> None:
    broker = started(start_broker, 3)
    topic = new_topic(broker)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "orders"})
    producer.init_transactions(PATIENCE_S)
    for end in (producer.commit_transaction, producer.abort_transaction):
        producer.begin_transaction()
        producer.produce(topic, b"x")
        producer.flush(PATIENCE_S)
        end(PATIENCE_S)
    settings = {"auto.offset.reset": "earliest", "group.id": "reader"}
    with closing(Consumer({"bootstrap.servers": broker.bootstrap, **settings})) as client:
        client.subscribe([TRANSACTION_TOPIC])
        found: list[Written] = []
        while len(found) < 5:
            message = next_message(client)
            key = message.key()
            assert isinstance(key, bytes)
            found.append(decoded(key, message.value()))
    epochs = [one.epoch for one in found]
    assert epochs == sorted(epochs)
    assert [one._replace(epoch=0) for one in found] == [
        Written("orders", EMPTY),
        Written("orders", ONGOING, 0, (topic,)),
        Written("orders", COMPLETE_COMMIT),
        Written("orders", ONGOING, 0, (topic,)),
        Written("orders", COMPLETE_ABORT),
    ]


@pytest.mark.long
def test_kafkas_formatter_prints_the_topic(start_broker: StartBroker) -> None:
    try:
        jars: Path = find_jars()
    except KafkaNotFound as reason:
        pytest.skip(str(reason))
    broker = started(start_broker, 1)
    story(broker.address)
    values = [
        one["value"]["data"] for one in printed(broker.address, jars, FORMATTER, TRANSACTION_TOPIC)
    ]
    states = [one["transactionStatus"] for one in values]
    assert states == [
        *(EMPTY, ONGOING, ONGOING, COMPLETE_COMMIT),
        *(ONGOING, ONGOING, COMPLETE_ABORT),
        *(ONGOING, COMPLETE_ABORT, EMPTY),
    ]
    shown = [
        {topic["topic"].rsplit("-")[-1]: topic["partitionIds"] for topic in one}
        for one in (value["transactionPartitions"] or [] for value in values)
    ]
    assert shown[1:3] == [{"a": [0, 2]}, {"a": [0, 2], "b": [0]}]
    assert shown[5] == {"__consumer_offsets": [0], "a": [1]}
    assert [one["producerEpoch"] for one in values] == [0, 0, 0, 0, 0, 0, 1, 1, 2, 3]
    assert [one.get("clientTransactionVersion", 0) for one in values] == [0] * 6 + [2, 0, 2, 2]
