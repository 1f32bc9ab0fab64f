"""confluent-kafka with assigned partitions: also how other clients' stories are read back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

PATIENCE_S = 30.0
_LOST_CONNECTION = (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN)


def _dotted(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with dots; callbacks (throttle_cb) have none."""
    return {
        key if key.endswith("_cb") else key.replace("_", "."): value
        for key, value in settings.items()
    }


@contextmanager
def assigned_consumer(
    bootstrap: str, topic: str, offset: int = 0, partition: int = 0, **settings: Any
) -> Iterator[Consumer]:
    """librdkafka wants a group's name, but with nothing committed it never needs the group."""
    defaults = {
        "bootstrap.servers": bootstrap,
        "group.id": "unused",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "error",
        "fetch.wait.max.ms": 100,
    }
    dotted = _dotted(settings)
    consumer = Consumer(defaults | dotted)
    try:
        consumer.assign([TopicPartition(topic, partition, offset)])
        yield consumer
    finally:
        consumer.close()


def next_message(consumer: Consumer) -> Message:
    message = consumer.poll(PATIENCE_S)
    assert message is not None, f"no message within {PATIENCE_S} s"
    assert message.error() is None, message.error()
    return message


def next_error(consumer: Consumer) -> KafkaError:
    message = consumer.poll(PATIENCE_S)
    assert message is not None, f"neither message nor error within {PATIENCE_S} s"
    error = message.error()
    assert error is not None, f"a message at offset {message.offset()} instead of an error"
    return error


def next_error_of_log(consumer: Consumer) -> KafkaError:
    """Not one of its connections."""
    while (error := next_error(consumer)).code() in _LOST_CONNECTION:
        pass
    return error


def read(
    bootstrap: str, topic: str, count: int, offset: int = 0, partition: int = 0
) -> list[Message]:
    """So many messages from there on, and proof that they were in order without a gap."""
    with assigned_consumer(bootstrap, topic, offset, partition) as consumer:
        messages: list[Message] = []
        while len(messages) < count:
            some = consumer.consume(count - len(messages), PATIENCE_S)
            assert some, f"only {len(messages)} of {count} messages"
            assert not [m.error() for m in some if m.error()]
            messages += some
    assert [m.offset() for m in messages] == list(range(offset, offset + count))
    return messages


def read_to_end(bootstrap: str, topic: str) -> list[Message]:
    """All messages of partition 0 up to its end offset; there may be gaps between them."""
    messages: list[Message] = []
    with assigned_consumer(bootstrap, topic, auto_offset_reset="earliest") as consumer:
        low, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), PATIENCE_S)
        while low < end:
            messages.append(next_message(consumer))
            low = (messages[-1].offset() or 0) + 1
    return messages


def read_values(bootstrap: str, topic: str, count: int, partition: int = 0) -> list[bytes | None]:
    return [message.value() for message in read(bootstrap, topic, count, partition=partition)]


def producer(bootstrap: str, **settings: Any) -> Producer:
    return Producer({"bootstrap.servers": bootstrap, "linger.ms": 1} | _dotted(settings))


class Deliveries:
    """Delivery reports in the order in which they came."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.errors: list[KafkaError] = []

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.errors.append(error)
        else:
            self.messages.append(message)


def deliver(sender: Producer, topic: str, *values: bytes | None, **fields: Any) -> Deliveries:
    """Produces the values and waits for every report."""
    reports = Deliveries()
    for value in values:
        sender.produce(topic, value, on_delivery=reports, **fields)
    assert sender.flush(PATIENCE_S) == 0, "messages without a report"
    return reports


def admin(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap})
