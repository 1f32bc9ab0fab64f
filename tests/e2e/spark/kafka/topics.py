"""Topics with something in them, and what a reader of the data source gets out of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

QUIET = {"log_level": 0}


def admin(servers: str) -> AdminClient:
    """To be kept while its answers are awaited."""
    return AdminClient({"bootstrap.servers": servers, **QUIET})


def create(servers: str, topic: str, partitions: int = 1) -> None:
    client = admin(servers)
    client.create_topics([NewTopic(topic, partitions)])[topic].result(30)


def delete(servers: str, topic: str) -> None:
    client = admin(servers)
    client.delete_topics([topic])[topic].result(30)


def grow(servers: str, topic: str, partitions: int) -> None:
    client = admin(servers)
    client.create_partitions([NewPartitions(topic, partitions)])[topic].result(30)


def trim(servers: str, topic: str, before: int, partition: int = 0) -> None:
    client = admin(servers)
    for answer in client.delete_records([TopicPartition(topic, partition, before)]).values():
        answer.result(30)


def fill(servers: str, topic: str, values: Iterable[Any], **options: Any) -> None:
    """A value may be a dict of what `produce` takes; the batches are as large as they may be."""
    settings = {name.replace("_", "."): options[name] for name in options}
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 50, **QUIET, **settings})
    for value in values:
        one = value if isinstance(value, dict) else {"value": value}
        producer.produce(topic, **{"partition": 0, **one})
        producer.poll(0)
    assert producer.flush(30) == 0


def read(servers: str, **options: str) -> list[dict[str, Any]]:
    """All rows of a batch, read here: without a JVM."""
    from interfaces.spark.kafka.batch import BatchReader

    reader = BatchReader(options_of(servers, **options))
    batches = [batch for part in reader.partitions() for batch in reader.read(part)]
    return [row for batch in batches for row in batch.to_pylist()]


def options_of(servers: str, **options: str) -> Any:
    from interfaces.spark.kafka.options import KafkaOptions

    given = {name.replace("__", "."): options[name] for name in options}
    return KafkaOptions({"kafka.bootstrap.servers": servers, **given})


def committed(servers: str, group: str, place: TopicPartition) -> int:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group, **QUIET})
    try:
        [found] = consumer.committed([place], timeout=30)
        return int(found.offset)
    finally:
        consumer.close()
