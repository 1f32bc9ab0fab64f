"""The records of a topic, read without Spark."""

from __future__ import annotations

from typing import Any, NamedTuple

from confluent_kafka import Consumer, Message, TopicPartition

PATIENCE_S = 20


class Found(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]
    time_ms: int


def records(servers: str, topic: str) -> list[list[Found]]:
    """Those of each partition, in their order."""
    settings: dict[str, Any] = {
        "bootstrap.servers": servers,
        "group.id": "nobody",
        "enable.auto.commit": False,
        "auto.offset.reset": "error",
    }
    consumer = Consumer(settings)
    try:
        partitions = consumer.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions
        return [_of(consumer, topic, partition) for partition in sorted(partitions)]
    finally:
        consumer.close()


def values(servers: str, topic: str) -> list[bytes | None]:
    return [record.value for partition in records(servers, topic) for record in partition]


def _of(consumer: Consumer, topic: str, partition: int) -> list[Found]:
    low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), PATIENCE_S)
    consumer.assign([TopicPartition(topic, partition, low)])
    found: list[Found] = []
    at = low
    while at < high:
        message = consumer.poll(PATIENCE_S)
        assert message is not None, f"no record at {topic}-{partition}@{at}"
        assert message.error() is None, message.error()
        found.append(_found(message))
        offset = message.offset()
        assert offset is not None
        at = offset + 1
    return found


def _found(message: Message) -> Found:
    headers: Any = message.headers()
    return Found(message.key(), message.value(), headers or [], message.timestamp()[1])
