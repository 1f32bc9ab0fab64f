"""Creates, fills and reads topics: as a client, and by the data source without a JVM."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

QUIET = {"log_level": 0}
PATIENCE_S = 30


class Found(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]
    time_ms: int


def admin(servers: str) -> AdminClient:
    """Keep it until its futures are done."""
    return AdminClient({"bootstrap.servers": servers, **QUIET})


def create(servers: str, topic: str, partitions: int = 1) -> None:
    client = admin(servers)
    client.create_topics([NewTopic(topic, partitions)])[topic].result(PATIENCE_S)


def delete(servers: str, topic: str) -> None:
    client = admin(servers)
    client.delete_topics([topic])[topic].result(PATIENCE_S)


def grow(servers: str, topic: str, partitions: int) -> None:
    client = admin(servers)
    client.create_partitions([NewPartitions(topic, partitions)])[topic].result(PATIENCE_S)


def trim(servers: str, topic: str, before: int, partition: int = 0) -> None:
    client = admin(servers)
    for done in client.delete_records([TopicPartition(topic, partition, before)]).values():
        done.result(PATIENCE_S)


def fill(servers: str, topic: str, values: Iterable[Any], **options: Any) -> None:
    """A value may be a dict of arguments of `produce`. Batches are as large as possible."""
    settings = {name.replace("_", "."): options[name] for name in options}
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 50, **QUIET, **settings})
    for value in values:
        one = value if isinstance(value, dict) else {"value": value}
        producer.produce(topic, **{"partition": 0, **one})
        producer.poll(0)
    assert producer.flush(PATIENCE_S) == 0


def records(servers: str, topic: str) -> list[list[Found]]:
    """By partition, in their order, read by a consumer."""
    settings = {"bootstrap.servers": servers, "group.id": "records", "enable.auto.commit": False}
    consumer = Consumer({**settings, "auto.offset.reset": "error", **QUIET})
    try:
        partitions = consumer.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions
        return [_of(consumer, TopicPartition(topic, each, 0)) for each in sorted(partitions)]
    finally:
        consumer.close()


def _of(consumer: Consumer, start: TopicPartition) -> list[Found]:
    _, end = consumer.get_watermark_offsets(start, PATIENCE_S)
    consumer.assign([start])
    found: list[Found] = []
    while len(found) < end:
        for message in consumer.consume(end, PATIENCE_S):
            assert message.error() is None, message.error()
            headers: Any = message.headers()
            about = message.key(), message.value(), headers or [], message.timestamp()[1]
            found.append(Found(*about))
    return found


def values(servers: str, topic: str) -> list[bytes | None]:
    return [record.value for partition in records(servers, topic) for record in partition]


def read(servers: str, **options: str) -> list[dict[str, Any]]:
    """All rows of a batch, read in this process, without a JVM."""
    from interfaces.spark.kafka.batch import BatchReader

    reader = BatchReader(options_of(servers, **options))
    batches = [batch for part in reader.partitions() for batch in reader.read(part)]
    return [row for batch in batches for row in batch.to_pylist()]


def read_committed(servers: str, topic: str) -> list[bytes]:
    rows = read(servers, subscribe=topic, kafka__isolation__level="read_committed")
    return [row["value"] for row in rows]


def options_of(servers: str, **options: str) -> Any:
    from interfaces.spark.kafka.options import KafkaOptions

    given = {name.replace("__", "."): options[name] for name in options}
    return KafkaOptions({"kafka.bootstrap.servers": servers, **given})


def committed(servers: str, group: str, place: TopicPartition) -> int:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group, **QUIET})
    try:
        [found] = consumer.committed([place], timeout=PATIENCE_S)
        return int(found.offset)
    finally:
        consumer.close()
