"""Consume, transform, produce in transactions: each input has one output, through SIGKILLs."""

from __future__ import annotations

from contextlib import closing

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.e2e.broker_process import PATIENCE_S, BrokerProcess
from tests.e2e.conftest import StartBroker, new_topic

RECORDS, PER_TRANSACTION = 40, 10


def reader(broker: BrokerProcess, topic: str, group_id: str) -> Consumer:
    client = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": group_id,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
        }
    )
    assigned = TopicPartition(topic, 0)
    [committed] = client.committed([assigned], timeout=PATIENCE_S)
    assigned.offset = max(committed.offset, 0)
    client.assign([assigned])
    return client


def values(client: Consumer, count: int) -> list[str]:
    found: list[str] = []
    while len(found) < count:
        some = client.consume(count - len(found), PATIENCE_S)
        assert some, f"only {len(found)} of {count} records"
        for one in some:
            value = one.value()
            assert one.error() is None and value is not None
            found.append(value.decode())
    return found


def forward(broker: BrokerProcess, source: str, target: str, ends: int) -> None:
    """Transactions with `ends` commits; the last one stays open."""
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "forward"})
    producer.init_transactions(PATIENCE_S)
    with closing(reader(broker, source, "forward")) as client:
        for number in range(ends + 1):
            position = client.position([TopicPartition(source, 0)])[0].offset
            left = RECORDS - max(position, 0)
            if not left:
                return
            producer.begin_transaction()
            for value in values(client, min(PER_TRANSACTION, left)):
                producer.produce(target, f"{value}!")
            offsets = client.position([TopicPartition(source, 0)])
            producer.send_offsets_to_transaction(
                offsets, client.consumer_group_metadata(), PATIENCE_S
            )
            producer.flush(PATIENCE_S)
            if number < ends:
                producer.commit_transaction(PATIENCE_S)
        # As a client that dies: without an abort.
        broker.kill()


@pytest.mark.parametrize(
    "offsets", ["beside the records", pytest.param("sqlite", marks=pytest.mark.long)]
)
def test_each_input_has_one_output_through_killed_brokers(
    start_broker: StartBroker, offsets: str
) -> None:
    settings = ("--set", "offsets=sqlite://") if offsets == "sqlite" else ()
    broker = start_broker(*settings)
    source, target = new_topic(broker), new_topic(broker)
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    expected = [f"{number}" for number in range(RECORDS)]
    for value in expected:
        producer.produce(source, value)
    assert producer.flush(PATIENCE_S) == 0
    for ends in (1, RECORDS):
        forward(broker, source, target, ends)
        if ends < RECORDS:
            broker.start()
    with closing(reader(broker, target, "check")) as client:
        assert values(client, RECORDS) == [f"{value}!" for value in expected]
        assert client.consume(1, 0.2) == []
    assert broker.terminate() == 0, broker.log()
    assert "Traceback" not in broker.log()
