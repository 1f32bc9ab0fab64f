"""librdkafka's clients with quotas."""

from __future__ import annotations

import time

import pytest
from confluent_kafka import Producer, ThrottleEvent

from tests.e2e.conftest import Broker, unused_topic_name
from tests.e2e.librdkafka import PATIENCE_S, assigned_consumer, deliver, next_message, producer
from tests.e2e.quotas import set_quota


@pytest.fixture
def broker(one_broker: Broker) -> Broker:
    """Each of several learns of a quota for itself: see cluster/test_cluster.py."""
    return one_broker


def test_a_producer_learns_its_throttle_time(broker: Broker, topic: str) -> None:
    client_id = unused_topic_name()
    set_quota(broker, client_id, producer_byte_rate=10_000)
    events: list[ThrottleEvent] = []
    sender = producer(broker.bootstrap, **{"client.id": client_id, "throttle_cb": events.append})
    deliver(sender, topic, bytes(103_000))  # ten seconds' worth are allowed at once
    deadline = time.monotonic() + PATIENCE_S
    while not events and time.monotonic() < deadline:
        sender.poll(0.1)
    assert 0.2 < events[0].throttle_time < 2
    assert events[0].broker_id == 1
    set_quota(broker, client_id, producer_byte_rate=None)
    deliver(producer(broker.bootstrap, client_id=client_id), topic, bytes(200_000))


def test_a_throttled_consumer_reads_everything(broker: Broker, topic: str) -> None:
    client_id = unused_topic_name()
    values = [b"%d" % number + bytes(1_000) for number in range(50)]
    sender = producer(broker.bootstrap)
    for value in values:
        deliver(sender, topic, value)
    set_quota(broker, client_id, consumer_byte_rate=5_000)  # 50,000 at once
    events: list[ThrottleEvent] = []
    settings = {"client_id": client_id, "throttle_cb": events.append}
    with assigned_consumer(broker.bootstrap, topic, **settings) as consumer:
        read = []
        while not events:
            message = consumer.poll(0.1)
            if message is not None:
                read.append(message.value())
        assert 0 < len(read) < len(values)
        set_quota(broker, client_id, consumer_byte_rate=None)
        read += [next_message(consumer).value() for _ in values[len(read) :]]
    assert read == values


@pytest.mark.long
def test_a_greedy_producer_stays_within_its_quota(broker: Broker, topic: str) -> None:
    client_id, bound, seconds = unused_topic_name(), 200_000, 12
    set_quota(broker, client_id, producer_byte_rate=bound)
    greedy = producer(broker.bootstrap, **{"client.id": client_id, "linger.ms": 5})
    other = producer(broker.bootstrap)
    delivered = slowest_s = 0.0
    value = bytes(10_000)

    def count(error: object, _message: object) -> None:
        nonlocal delivered
        delivered += len(value) if error is None else 0

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        _fill(greedy, topic, value, count)
        begun = time.monotonic()
        deliver(other, topic, b"v")
        slowest_s = max(slowest_s, time.monotonic() - begun)
    greedy.purge()
    greedy.flush(PATIENCE_S)
    # The burst of ten seconds, and what was in flight.
    assert bound * 10 * 0.5 < delivered < bound * (seconds + 11) * 1.1 + 3_000_000
    assert slowest_s < 5
    set_quota(broker, client_id, producer_byte_rate=None)


def _fill(sender: Producer, topic: str, value: bytes, count: object) -> None:
    for _ in range(50):
        try:
            sender.produce(topic, value, on_delivery=count)
        except BufferError:
            break
    sender.poll(0.02)
