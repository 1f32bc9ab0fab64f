"""Topics that consumers read: records of 1 KB in batches of 16 KB, as the Java producer sends."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from confluent_kafka import Producer

from tests.bench.brokers import Broker

_PATIENCE_S = 60
_numbers = itertools.count(1)


class Topic(NamedTuple):
    name: str
    partitions: int
    size_bytes: int


class Filler(Protocol):
    def fill(self, broker: Broker, topic: Topic) -> None: ...


def filled(broker: Broker, topic: Topic, filler: Filler) -> None:
    """Once for each broker."""
    if topic.name not in broker.filled:
        create(broker, topic.name, topic.partitions)
        filler.fill(broker, topic)
        broker.filled.add(topic.name)


def new_topic(broker: Broker, partitions: int = 1) -> str:
    name = f"bench-{next(_numbers)}"
    create(broker, name, partitions)
    return name


def create(
    broker: Broker, name: str, partitions: int = 1, configs: dict[str, str] | None = None
) -> None:
    """Waits until every partition has a leader that responds: the first node, of several."""
    deadline = time.monotonic() + _PATIENCE_S
    ids = range(1, len(broker.nodes) + 1)
    replicas = [ids] * partitions if len(ids) > 1 else ()
    with broker.connect() as client:
        error = client.create_topic(name, partitions, configs, replicas)
        assert error == 0, f"CreateTopics failed with {error}"
        while client.usable_partitions(name, partitions) < partitions:
            assert time.monotonic() < deadline, f"{name} has no leaders"
            time.sleep(0.05)


def produce_all(producer: Producer, records: Iterable[dict[str, Any]]) -> None:
    """Produces through librdkafka, and waits for its queue."""
    for number, record in enumerate(records):
        while True:
            try:
                producer.produce(**record)
                break
            except BufferError:
                producer.poll(0.01)
        if number % 1_000 == 0:
            producer.poll(0)
    left = producer.flush(120)
    assert left == 0, f"{left} records were not acknowledged"
