"""`import ottla` from the checkout: the broker in a process of its own, and what it keeps."""

from __future__ import annotations

from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from interfaces.embed import Broker
from tests.fakes import certificates


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


def test_rest_with_users_and_tls(tmp_path: Path) -> None:
    authority = certificates.authority()
    files = certificates.write(
        tmp_path, ca=authority.certificate_pem, broker=certificates.broker(authority).pem
    )
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    settings = {
        "admin.authentication": "users",
        "admin.plain.sasl.jaas.config": f'{module} required user_ann="secret";',
        "admin.ssl.keystore.type": "PEM",
        "admin.ssl.keystore.location": str(files["broker"]),
    }
    with Broker(settings=settings, login=("ann", "secret"), ca=files["ca"]) as broker:
        assert broker.admin_url.startswith("https://")
        broker.create_topic("orders")
        assert broker.admin.topics() == ["orders"]


def test_settings_reach_the_broker() -> None:
    with Broker(settings={"num.partitions": 3}) as broker:
        produce(broker, "greetings", b"hello")
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
        assert len(producer.list_topics("greetings", 20).topics["greetings"].partitions) == 3
