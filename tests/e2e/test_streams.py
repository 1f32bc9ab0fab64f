"""A Kafka Streams application that loses its local state: its compacted topics have it."""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import OffsetSpec

from tests.e2e import test_java
from tests.e2e.broker_process import wait_until
from tests.e2e.cluster.brokers import Brokers
from tests.e2e.conftest import StartBrokers
from tests.e2e.librdkafka import PATIENCE_S, admin, producer, read_to_end
from tests.e2e.line_process import LineProcess

ITEMS, ORDERS, PRICES = 10, 3_000, 1_000
CHANGELOG, REPARTITIONED = "shop-counts-changelog", "shop-items-repartition"
COMPACTED = {
    "cleanup.policy": "compact",
    "segment.ms": "1",
    "min.cleanable.dirty.ratio": "0.01",
}


@pytest.fixture
def shop(start_brokers: StartBrokers) -> Brokers:
    brokers = start_brokers("--set", "log.cleaner.backoff.ms=200")
    brokers.create_topic("orders")
    brokers.create_topic("prices", 1, COMPACTED)
    return brokers


@pytest.mark.long
@pytest.mark.timeout(180)
def test_a_lost_state_is_restored_from_compacted_topics(shop: Brokers, tmp_path: Path) -> None:
    program = test_java.compiled(test_java.VERSIONS[0], test_java.STREAMS, test_java.APPLICATIONS)

    def application(folder: str) -> LineProcess:
        return LineProcess([*program, shop.bootstrap, str(tmp_path / folder)], tmp_path / "stderr")

    _send(shop, "prices", PRICES)
    _send(shop, "orders", ORDERS)
    prices = {f"item-{item}": PRICES - ITEMS + item for item in range(ITEMS)}
    counts = {f"item-{item}": ORDERS // ITEMS for item in range(ITEMS)}
    first = application("state")
    try:
        _has(first, "prices", prices)
        _has(first, "counts", counts)
        wait_until(lambda: _start(shop, REPARTITIONED) == ORDERS)
    finally:
        first.close()
    for topic, sent in (("prices", PRICES), (CHANGELOG, ORDERS)):
        wait_until(partial(_is_half_gone, shop, topic, sent))
    _delete_orders(shop)

    second = application("another state")
    try:
        _has(second, "prices", prices)
        _has(second, "counts", counts)
        _send(shop, "orders", ITEMS)
        _has(second, "counts", {item: count + 1 for item, count in counts.items()})
    finally:
        second.close()
    shop.terminate()
    assert "Traceback" not in shop.log(sys.maxsize)


def _send(brokers: Brokers, topic: str, count: int) -> None:
    """A price for each item in turn, or an order of it."""
    sender, begun_ms = producer(brokers.bootstrap), int(time.time() * 1000) - count
    for number in range(count):
        item = b"item-%d" % (number % ITEMS)
        key, value = (item, b"%d" % number) if topic == "prices" else (b"%d" % number, item)
        sender.produce(topic, value, key, timestamp=begun_ms + number)
        if number % 100 == 99:  # several batches
            sender.flush(PATIENCE_S)
    assert sender.flush(PATIENCE_S) == 0


def _start(brokers: Brokers, topic: str) -> int:
    client, place = admin(brokers.bootstrap), TopicPartition(topic, 0)
    [found] = client.list_offsets({place: OffsetSpec.earliest()}).values()
    return int(found.result(PATIENCE_S).offset)


def _is_half_gone(brokers: Brokers, topic: str, sent: int) -> bool:
    """Not all but the newest of each key: the newest batch is in the active segment."""
    return len(read_to_end(brokers.bootstrap, topic)) < sent / 2


def _delete_orders(brokers: Brokers) -> None:
    """The counts cannot come from them then."""
    client = admin(brokers.bootstrap)
    [deleted] = client.delete_records([TopicPartition("orders", 0, ORDERS)]).values()
    deleted.result(PATIENCE_S)


def _has(application: LineProcess, store: str, content: dict[str, int]) -> None:
    expected = " ".join(f"{key}={value}" for key, value in sorted(content.items()))
    found = application.request(f"{store}\t{expected}")
    assert found == expected, application.complaints()
