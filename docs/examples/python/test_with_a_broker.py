from confluent_kafka import Consumer, Producer


def test_a_produced_record_is_consumed(ottla_broker, ottla_topic):
    ottla_broker.produce(ottla_topic, "one coffee")

    servers = {"bootstrap.servers": ottla_broker.bootstrap_servers}
    consumer = Consumer({**servers, "group.id": "bar", "auto.offset.reset": "earliest"})
    consumer.subscribe([ottla_topic])
    assert consumer.poll(10).value() == b"one coffee"
    consumer.close()
    ottla_broker.wait_for_lag("bar", 0)


def test_a_producer_retries(ottla_broker, ottla_topic):
    producer = Producer({"bootstrap.servers": ottla_broker.bootstrap_servers})
    with ottla_broker.fail("Produce", "NOT_LEADER_OR_FOLLOWER", topic=ottla_topic):
        producer.produce(ottla_topic, "one coffee")
        assert producer.flush(10) == 0
    [record] = ottla_broker.records(ottla_topic)
    assert record.value == b"one coffee"
