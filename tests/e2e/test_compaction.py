"""Compaction, as clients see it."""

from __future__ import annotations

import time

from confluent_kafka import TopicPartition

from tests.e2e.conftest import StartBroker, new_topic
from tests.e2e.librdkafka import PATIENCE_S, assigned_consumer, next_message, producer

KEYS, ROUNDS = 50, 30


def test_a_consumer_reads_the_newest_record_of_each_key(start_broker: StartBroker) -> None:
    """More than a megabyte is compacted in a worker process; the result survives a kill."""
    broker = start_broker("--set", "log.cleaner.backoff.ms=1000")
    configs = {"cleanup__policy": "compact", "min__cleanable__dirty__ratio": "0.01"}
    topic = new_topic(broker, segment__ms="1", **configs)
    sender = producer(broker.bootstrap)
    now_ms = int(time.time() * 1000)
    for round_ in range(ROUNDS):
        for key in range(KEYS):
            value = b"%d " % round_ + b"x" * 1000
            sender.produce(topic, value, b"%d" % key, timestamp=now_ms - ROUNDS + round_)
        sender.flush(PATIENCE_S)
    sender.produce(topic, b"the active segment", b"last", timestamp=now_ms + 10)
    sender.flush(PATIENCE_S)

    deadline = time.monotonic() + PATIENCE_S
    while (found := _records(broker.bootstrap, topic)) != _newest():
        assert time.monotonic() < deadline, found[:50]
    broker.kill()
    broker.start()
    assert _records(broker.bootstrap, topic) == _newest()


def _newest() -> list[tuple[int, bytes, bytes]]:
    """Offset, key and the beginning of the value."""
    first = KEYS * (ROUNDS - 1)
    newest = [(first + key, b"%d" % key, b"%d" % (ROUNDS - 1)) for key in range(KEYS)]
    return [*newest, (KEYS * ROUNDS, b"last", b"the")]


def _records(bootstrap: str, topic: str) -> list[tuple[int, bytes, bytes]]:
    found = []
    with assigned_consumer(bootstrap, topic, auto_offset_reset="earliest") as consumer:
        _, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), PATIENCE_S)
        while not found or found[-1][0] + 1 < end:
            message = next_message(consumer)
            found.append((message.offset(), message.key(), message.value().split()[0]))
    return found
