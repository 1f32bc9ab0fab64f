"""A folder of 5 GB with 200 topics, filled by a real Kafka, is served in place as it is."""

from __future__ import annotations

import hashlib
import os
import random
import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.e2e.broker_process import BrokerProcess
from tests.e2e.kafka_folder.filling import CODECS, SETTINGS, fill
from tests.e2e.kafka_folder.reading import PATIENCE_S
from tests.e2e.kafka_folder.test_import import OPTIONS
from tests.oracle.kafka import KafkaNotFound, find_jars, running_kafka

TOPICS = 200
TOPIC_BYTES = 25 << 20
RECORD_BYTES = 8 << 10
#: Every so many topics get aborted transactions, too.
ABORTED_EACH = 7

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]


def fill_topic(bootstrap: str, number: int, noise: bytes) -> None:
    chance = random.Random(number)
    settings = {
        "bootstrap.servers": bootstrap,
        "linger.ms": 20,
        "compression.type": CODECS[number % len(CODECS)],
        "transactional.id": f"large-{number}",
    }
    sender = Producer(settings)
    sender.init_transactions(PATIENCE_S)
    left = TOPIC_BYTES // RECORD_BYTES
    while left:
        count = min(left, chance.randint(100, 1000))
        left -= count
        sender.begin_transaction()
        for key in range(count):
            at = chance.randrange(len(noise) - RECORD_BYTES)
            sender.produce(
                f"large-{number}",
                key=str(key).encode(),
                value=noise[at : at + RECORD_BYTES],
                partition=key % 2,
            )
        if number % ABORTED_EACH == 0 and chance.random() < 0.3:
            sender.flush(PATIENCE_S)
            sender.abort_transaction(PATIENCE_S)
        else:
            sender.commit_transaction(PATIENCE_S)


def digests(bootstrap: str) -> dict[str, tuple[int, int, int, str]]:
    """Of each partition: offsets, records and a digest of all that consumers see."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topics = admin.list_topics(timeout=PATIENCE_S).topics
    return {
        f"{name}-{number}": digest(bootstrap, name, number)
        for name in sorted(topics)
        if not name.startswith("__")
        for number in sorted(topics[name].partitions)
    }


def digest(bootstrap: str, topic: str, partition: int) -> tuple[int, int, int, str]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "unused",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    try:
        place = TopicPartition(topic, partition, 0)
        low, high = consumer.get_watermark_offsets(place, PATIENCE_S)
        place.offset = low
        consumer.assign([place])
        found, count = hashlib.sha256(), 0
        while True:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, f"{topic}-{partition}: no end of the partition"
            error = message.error()
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error
                return low, high, count, found.hexdigest()
            count += 1
            facts = (message.offset(), message.timestamp(), message.key(), message.headers())
            found.update(repr(facts).encode())
            found.update(message.value() or b"-")
    finally:
        consumer.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    try:
        jars = find_jars()
    except KafkaNotFound as reason:
        pytest.skip(str(reason))
    place = tmp_path_factory.mktemp("large")
    noise = os.urandom(8 << 20)
    with running_kafka(jars, place, SETTINGS) as address:
        # Open transactions would have timed out before the folder is served.
        opened = fill(address, place / "data", timeout_ms=900_000)
        admin = AdminClient({"bootstrap.servers": address.bootstrap})
        numbers = range(TOPICS - len(admin.list_topics(timeout=PATIENCE_S).topics))
        config = {"segment.bytes": str(4 << 20), "retention.ms": "-1"}
        new = [NewTopic(f"large-{number}", 2, 1, config=config) for number in numbers]
        for created in admin.create_topics(new).values():
            created.result()
        for number in numbers:
            fill_topic(address.bootstrap, number, noise)
        expected = digests(address.bootstrap)
    del opened
    return place / "data", expected


def test_every_record_is_served(filled: tuple[Path, dict[str, object]]) -> None:
    folder, expected = filled
    size_bytes = sum(path.stat().st_size for path in folder.rglob("*.log"))
    began_s = time.monotonic()
    with BrokerProcess(folder.parent, "files", OPTIONS) as broker:
        print(f"{size_bytes:,} bytes: ready after {time.monotonic() - began_s:.2f} s")
        found = digests(broker.bootstrap)
        assert found.keys() == expected.keys()
        differ = [name for name in found if found[name] != expected[name]]
        assert differ == []
        assert broker.terminate() == 0
    began_s = time.monotonic()
    with BrokerProcess(folder.parent, "files", OPTIONS) as broker:
        print(f"again: ready after {time.monotonic() - began_s:.2f} s")
        assert broker.terminate() == 0
