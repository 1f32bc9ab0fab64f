import ottla
import pytest
from confluent_kafka import Consumer, Producer


@pytest.fixture(scope="session")
def servers():
    with ottla.Broker() as broker:
        yield broker.bootstrap_servers


def test_a_produced_record_is_consumed(servers):
    producer = Producer({"bootstrap.servers": servers})
    producer.produce("orders", value="one coffee")
    assert producer.flush(10) == 0

    config = {"bootstrap.servers": servers, "group.id": "bar", "auto.offset.reset": "earliest"}
    consumer = Consumer(config)
    consumer.subscribe(["orders"])
    assert consumer.poll(10).value() == b"one coffee"
    consumer.close()
