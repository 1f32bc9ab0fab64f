"""Data of a shop: topics, records of every kind, groups with and without lag."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

NOW_MS = 1_780_000_000_000
TOPICS = {
    "orders": (6, {"retention.ms": "259200000", "max.message.bytes": "2097152"}),
    "payments": (3, {"message.timestamp.type": "LogAppendTime"}),
    "shipments": (3, {}),
    "customers": (3, {"cleanup.policy": "compact"}),
    "clicks": (12, {}),
    "thumbnails": (1, {"max.message.bytes": "8388608"}),
    "audit.log": (1, {}),
    "nothing-yet": (1, {}),
}
CITIES = ("Turku", "Oulu", "Tampere", "Kuopio", "Vaasa")


def order(number: int) -> str:
    return json.dumps(
        {
            "order": 1000 + number,
            "customer": {"id": f"c-{number % 37:03}", "city": CITIES[number % 5]},
            "items": [{"sku": f"sku-{number % 11}", "quantity": 1 + number % 4, "price": 12.50}],
            "total": 12.5 * (1 + number % 4),
            "paid": number % 3 == 0,
        }
    )


def create_topics(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topics = [
        NewTopic(name, partitions, 1, config=configs)
        for name, (partitions, configs) in TOPICS.items()
    ]
    for created in admin.create_topics(topics).values():
        created.result(30)


def produce_samples(bootstrap: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "client.id": "webshop"})
    for number in range(600):
        producer.produce(
            "orders",
            order(number),
            key=f"c-{number % 37:03}",
            timestamp=NOW_MS + number * 1000,
            headers=[("source", b"webshop"), ("trace", bytes(range(number % 16, 24)))],
        )
        producer.produce("clicks", f"/product/{number % 90}", key=f"visitor-{number % 50}")
        if number % 3 == 0:
            producer.produce("payments", order(number), key=f"p-{number}")
        if number % 10 == 0:
            producer.produce("customers", None, key=f"c-{number:03}")
            producer.produce("audit.log", f"user {number} signed in")
    for number in range(40):
        producer.produce(
            "thumbnails", bytes((number * k) % 256 for k in range(3000)), key=b"\xff\0"
        )
    produce_odd_ones(producer)
    assert producer.flush(30) == 0


def produce_odd_ones(producer: Producer) -> None:
    """Null, empty, the text null; binary; JSON that a parser would change."""
    for key, value in ((None, None), ("", ""), ("null", "null"), ("nothing", None), (None, "")):
        producer.produce("shipments", value, key=key, partition=0, headers=[("none", None)])
    producer.produce("shipments", b"\x00\x01\xfe\xff binary", key=b"\x80", partition=1)
    producer.produce("shipments", '{"id": 12345678901234567890, "a": 1, "a": 1.0}', partition=2)


def commit(bootstrap: str, group: str, topic: str, share: float) -> None:
    """Commits this share of each partition, without membership."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    offsets = []
    for index in range(TOPICS[topic][0]):
        _, end = consumer.get_watermark_offsets(TopicPartition(topic, index), 30)
        offsets.append(TopicPartition(topic, index, int(end * share)))
    consumer.commit(offsets=offsets, asynchronous=False)
    consumer.close()


@contextmanager
def members(bootstrap: str, group: str, topic: str, count: int) -> Iterator[list[Consumer]]:
    """A group whose members have their partitions."""
    consumers = [
        Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "client.id": f"{group}-{number}",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
        for number in range(count)
    ]
    try:
        for consumer in consumers:
            consumer.subscribe([topic])
        while not all(consumer.assignment() for consumer in consumers):
            for consumer in consumers:
                consumer.poll(0.05)
        yield consumers
    finally:
        for consumer in consumers:
            consumer.close()


def fill(bootstrap: str) -> None:
    create_topics(bootstrap)
    produce_samples(bootstrap)
    commit(bootstrap, "billing", "orders", 0.92)
    commit(bootstrap, "billing", "payments", 1.0)
    commit(bootstrap, "shipping", "orders", 0.35)
    commit(bootstrap, "recommendations", "clicks", 0.1)
    commit(bootstrap, "reports", "payments", 1.0)
