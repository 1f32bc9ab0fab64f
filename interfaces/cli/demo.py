"""The demo: a producer and a consumer against a broker that is killed and restarted."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

TOPIC = "first-steps"
PARTITIONS = 2
_PATIENCE_SECONDS = 15.0

Print = Callable[[str], None]


class TourFailed(Exception):
    pass


def tour(start: Callable[[], str], kill: Callable[[], None], show: Print) -> None:
    show("1. Start a broker on an empty folder.")
    servers = _started(start, show)
    show(f"\n2. Create the topic {TOPIC} with {PARTITIONS} partitions.")
    _create_topic(servers)
    show("\n3. Produce: each acknowledgement means that the record is on disk.")
    sent = _produce(servers, [(f"key-{n}", f"message {n}") for n in range(1, 6)], show)
    show("\n4. Consume from the beginning.")
    _consume(servers, sent, show)
    show("\n5. Kill the broker (SIGKILL), start it again on the same folder.")
    kill()
    servers = _started(start, show)
    show("\n6. Consume again: all acknowledged records are there.")
    _consume(servers, sent, show)
    show("\nDone. To run a broker: ottla serve")


def _started(start: Callable[[], str], show: Print) -> str:
    began = time.monotonic()
    servers = start()
    show(f"   ready at {servers} after {(time.monotonic() - began) * 1000:.0f} ms")
    return servers


def _create_topic(servers: str) -> None:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    admin = AdminClient({"bootstrap.servers": servers, "log_level": 3})
    created = admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])
    try:
        created[TOPIC].result(_PATIENCE_SECONDS)
    except KafkaException as failure:
        raise TourFailed(f"the topic could not be created: {failure}") from failure


def _produce(servers: str, messages: list[tuple[str, str]], show: Print) -> int:
    from confluent_kafka import Producer

    failures: list[str] = []

    def delivered(error: Any, message: Any) -> None:
        if error is not None:
            failures.append(str(error))
        else:
            place = f"partition {message.partition()}, offset {message.offset()}"
            show(f"   {_text(message.key())} -> {place}")

    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, "log_level": 3})
    for key, value in messages:
        producer.produce(TOPIC, value, key, on_delivery=delivered)
    if producer.flush(_PATIENCE_SECONDS) or failures:
        raise TourFailed(f"not all records were acknowledged: {failures or 'no response'}")
    return len(messages)


def _consume(servers: str, count: int, show: Print) -> None:
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    # Assigned partitions, no group.
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "unused",
            "enable.auto.commit": False,
            "log_level": 3,
        }
    )
    consumer.assign([TopicPartition(TOPIC, n, OFFSET_BEGINNING) for n in range(PARTITIONS)])
    seen = 0
    deadline = time.monotonic() + _PATIENCE_SECONDS
    try:
        while seen < count:
            message = consumer.poll(max(0.0, deadline - time.monotonic()))
            if message is None:
                raise TourFailed(f"consumed only {seen} of {count} records")
            if message.error():
                raise TourFailed(f"the consumer failed: {message.error()}")
            seen += 1
            place = f"partition {message.partition()}, offset {message.offset()}"
            show(f"   {place}: {_text(message.key())} = {_text(message.value())}")
    finally:
        consumer.close()


def _text(data: bytes | None) -> str:
    return (data or b"").decode()
