"""Reads what a client sees of topics, as JSON: to compare an import with the Kafka it came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, Message, TopicPartition
from confluent_kafka.error import KafkaError

PATIENCE_S = 30.0


def everything(bootstrap: str, topics: Mapping[str, int]) -> dict[str, Any]:
    """By topic and partition: offsets, all records, and offsets that are committed."""
    return {
        name: [_partition(bootstrap, name, number) for number in range(count)]
        for name, count in topics.items()
    }


def _partition(bootstrap: str, topic: str, partition: int) -> dict[str, Any]:
    records, low, high = _read(bootstrap, topic, partition, "read_uncommitted")
    committed, _, _ = _read(bootstrap, topic, partition, "read_committed")
    return {
        "low": low,
        "high": high,
        "records": [_plain(one) for one in records],
        "committed": [one.offset() for one in committed],
    }


def _read(
    bootstrap: str, topic: str, partition: int, isolation: str
) -> tuple[list[Message], int, int]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "unused",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 10,
        }
    )
    try:
        place = TopicPartition(topic, partition, 0)
        low, high = consumer.get_watermark_offsets(place, PATIENCE_S)
        place.offset = low
        consumer.assign([place])
        found: list[Message] = []
        while True:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, f"{topic}-{partition}: no end of the partition"
            error = message.error()
            if error is None:
                found.append(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                return found, low, high
            else:
                raise AssertionError(f"{topic}-{partition}: {error}")
    finally:
        consumer.close()


def _plain(one: Message) -> list[Any]:
    headers: list[Any] = list(one.headers() or [])
    stamped: Any = one.timestamp()
    kind, timestamp = stamped
    return [
        one.offset(),
        kind,
        timestamp,
        _text(one.key()),
        _text(one.value()),
        [[name, _text(value)] for name, value in headers],
    ]


def _text(data: Any) -> str | None:
    return None if data is None else data.decode()


def committed_offsets(bootstrap: str, group: str, topics: Mapping[str, int]) -> dict[str, int]:
    # Else it would wait for the end of open transactions.
    isolation = {"isolation.level": "read_uncommitted"}
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, **isolation})
    try:
        places = [TopicPartition(name, n) for name, count in topics.items() for n in range(count)]
        found = consumer.committed(places, PATIENCE_S)
        return {
            f"{one.topic} {one.partition}": one.offset
            for one in found
            if one.error is None and one.offset >= 0
        }
    finally:
        consumer.close()
