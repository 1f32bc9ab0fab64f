import ottla
import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition


@pytest.fixture(scope="session")
def servers():
    with ottla.Broker() as broker:
        yield broker.bootstrap_servers


def test_what_is_produced_is_read(servers):
    producer = Producer({"bootstrap.servers": servers})
    producer.produce("orders", value="one coffee")
    assert producer.flush(10) == 0

    facts = {"bootstrap.servers": servers, "group.id": "unused", "enable.auto.commit": False}
    consumer = Consumer(facts)
    consumer.assign([TopicPartition("orders", 0, OFFSET_BEGINNING)])
    assert consumer.poll(10).value() == b"one coffee"
    consumer.close()
