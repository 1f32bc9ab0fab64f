"""`import ottla` from the checkout: the broker in a process of its own, and what it keeps."""

from __future__ import annotations

from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from interfaces.embed import Broker


def produce(broker: Broker, topic: str, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    producer.produce(topic, value)
    assert producer.flush(20) == 0


def consume(broker: Broker, topic: str) -> bytes | None:
    """The first record of the topic."""
    facts = {"bootstrap.servers": broker.bootstrap_servers, "group.id": "a-group"}
    consumer = Consumer({**facts, "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    message = consumer.poll(20)
    consumer.close()
    assert message is not None
    assert message.error() is None
    return message.value()


def test_a_with_block_starts_a_broker() -> None:
    with Broker() as broker:
        produce(broker, "greetings", b"hello")
        assert consume(broker, "greetings") == b"hello"


def test_several_brokers_are_independent() -> None:
    with Broker() as one, Broker() as other:
        produce(one, "greetings", b"one")
        produce(other, "greetings", b"other")
        assert consume(one, "greetings") == b"one"


def test_the_next_broker_reads_the_records_of_a_data_folder(tmp_path: Path) -> None:
    with Broker(data=tmp_path / "data") as broker:
        produce(broker, "greetings", b"hello")
    with Broker(data=tmp_path / "data") as broker:
        assert consume(broker, "greetings") == b"hello"


def test_settings_reach_the_broker() -> None:
    with Broker(settings={"num.partitions": 3}) as broker:
        produce(broker, "greetings", b"hello")
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
        assert len(producer.list_topics("greetings", 20).topics["greetings"].partitions) == 3
