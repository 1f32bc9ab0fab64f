"""Compaction, as clients see it."""

from __future__ import annotations

import time

import pytest

from tests.e2e.broker_process import wait_until
from tests.e2e.conftest import StartBroker, new_topic
from tests.e2e.librdkafka import PATIENCE_S, producer, read_to_end

KEYS, ROUNDS = 50, 30
CHANGELOG_KEYS, BATCH = 1_000, 1_000


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

    wait_until(lambda: _records(broker.bootstrap, topic) == _newest())
    broker.kill()
    broker.start()
    assert _records(broker.bootstrap, topic) == _newest()


@pytest.mark.parametrize("updates", [50_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_a_changelog_shrinks_to_its_keys(start_broker: StartBroker, updates: int) -> None:
    broker = start_broker("--set", "log.cleaner.backoff.ms=200")
    topic = new_topic(broker, cleanup__policy="compact", segment__ms="1")
    sender = producer(broker.bootstrap, batch_num_messages=BATCH)
    begun_ms = int(time.time() * 1000) - updates
    for number in range(updates):
        key, value = b"%d" % (number % CHANGELOG_KEYS), b"%0100d" % number
        sender.produce(topic, value, key, timestamp=begun_ms + number)
        if number % 10_000 == 0:
            sender.flush(PATIENCE_S)
    assert sender.flush(PATIENCE_S) == 0

    # At most two batches of the active segment, and the ratio is half by default.
    most = 2 * (CHANGELOG_KEYS + 2 * BATCH)
    wait_until(lambda: len(read_to_end(broker.bootstrap, topic)) <= most)
    with broker.connect() as client:
        assert client.log_bytes(topic) <= most * 120
    restored = {one.key(): one.value() for one in read_to_end(broker.bootstrap, topic)}
    newest = range(updates - CHANGELOG_KEYS, updates)
    assert restored == {b"%d" % (one % CHANGELOG_KEYS): b"%0100d" % one for one in newest}


def _newest() -> list[tuple[int, bytes, bytes]]:
    """Offset, key and the beginning of the value."""
    first = KEYS * (ROUNDS - 1)
    newest = [(first + key, b"%d" % key, b"%d" % (ROUNDS - 1)) for key in range(KEYS)]
    return [*newest, (KEYS * ROUNDS, b"last", b"the")]


def _records(bootstrap: str, topic: str) -> list[tuple[int, bytes, bytes]]:
    messages = read_to_end(bootstrap, topic)
    return [(one.offset(), one.key(), one.value().split()[0]) for one in messages]
