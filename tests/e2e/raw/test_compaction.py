"""Compaction removes records of the stream, and leaves the offsets of the others."""

from __future__ import annotations

import time
from itertools import takewhile

from confluent_kafka.admin import NewTopic

from tests.e2e.broker_process import wait_until
from tests.e2e.librdkafka import PATIENCE_S, admin, producer, read_to_end
from tests.e2e.raw.conftest import TOPIC, RawBroker, StartRaw
from tests.e2e.raw.stream import positions

CONFIGS = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.ms": "1"}
KEYS, ROUNDS = 10, 20
VALUES = [b"%d of key %d" % (round_, key) for round_ in range(ROUNDS) for key in range(KEYS)]


def up_to_last(raw: RawBroker) -> list[bytes]:
    with raw.consumer() as consumer:
        return [*takewhile(lambda record: record != b"last", consumer), b"last"]


def test_offsets_stay_while_records_are_compacted_away(start_raw: StartRaw) -> None:
    raw = start_raw("--set", "log.cleaner.backoff.ms=100")
    client = admin(raw.bootstrap)
    client.create_topics([NewTopic(TOPIC, 1, config=CONFIGS)])[TOPIC].result(PATIENCE_S)
    with raw.consumer() as tail:
        sender = producer(raw.bootstrap)
        now_ms = int(time.time() * 1000)
        for number, value in enumerate([*VALUES, b"last"]):
            round_, key = divmod(number, KEYS)
            sender.produce(TOPIC, value, b"%d" % key, timestamp=now_ms - (ROUNDS - round_) * 10)
            if key == KEYS - 1:
                sender.flush(PATIENCE_S)
        assert sender.flush(PATIENCE_S) == 0
        assert tail.records(len(VALUES) + 1) == [*VALUES, b"last"]
    newest = [*VALUES[-KEYS:], b"last"]
    wait_until(lambda: up_to_last(raw) == newest)  # in memory they stay until the end of the pass
    assert [one.value() for one in read_to_end(raw.bootstrap, TOPIC)] == newest
    removed = len(VALUES) - KEYS
    for number, place in enumerate(positions(VALUES)):
        with raw.consumer(place) as consumer:
            expected = newest[max(number - removed, 0) :]
            assert consumer.records(len(expected)) == expected, number
    with raw.producer() as refused:
        refused.send(b"without a key")
        assert refused.rest() == b""
    assert '"reason":"record_refused"' in raw.process.log_line("connection_closed")
