"""What Ottla does not have, read from Apache Kafka: transactions and what compaction leaves out."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from tests.e2e.conftest import unused_topic_name
from tests.e2e.spark.kafka.topics import QUIET, admin, create, fill, read
from tests.oracle.kafka import KafkaNotFound, find_jars, running_kafka

pytest.importorskip("pyspark", reason="needs Spark")


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        jars = find_jars()
    except KafkaNotFound as reason:
        pytest.skip(f"needs Apache Kafka: {reason}")
    with running_kafka(jars, tmp_path_factory.mktemp("kafka")) as address:
        yield address.bootstrap


def values(rows: list[dict[str, object]]) -> list[object]:
    return [row["value"] for row in rows]


def test_transactions_are_read_as_far_as_they_are_decided(kafka: str) -> None:
    topic = unused_topic_name()
    create(kafka, topic)
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": topic, **QUIET})
    producer.init_transactions(30)

    def send(value: bytes) -> None:
        producer.begin_transaction()
        producer.produce(topic, value, partition=0)
        producer.flush(30)

    send(b"kept")
    producer.commit_transaction(30)
    send(b"dropped")
    producer.abort_transaction(30)
    committed = {"subscribe": topic, "kafka__isolation__level": "read_committed"}
    assert values(read(kafka, **committed)) == [b"kept"]
    assert values(read(kafka, subscribe=topic)) == [b"kept", b"dropped"]

    send(b"open")
    assert values(read(kafka, **committed)) == [b"kept"]
    producer.abort_transaction(30)
    assert values(read(kafka, **committed)) == [b"kept"]


@pytest.mark.long
def test_ranges_with_compacted_ends_are_read_to_where_the_log_goes_on(kafka: str) -> None:
    topic = unused_topic_name()
    eager = {
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "segment.ms": "100",
        "max.compaction.lag.ms": "100",
    }
    client = admin(kafka)
    client.create_topics([NewTopic(topic, 1, config=eager)])[topic].result(30)
    fill(kafka, topic, [{"key": b"%d" % (n % 3), "value": b"%d" % n} for n in range(30)])
    time.sleep(0.2)  # segment.ms: Kafka's own clock
    fill(kafka, topic, [{"key": b"last", "value": b"last"}])
    deadline = time.monotonic() + 40
    while len(rows := read(kafka, subscribe=topic)) > 4:
        assert time.monotonic() < deadline, "Kafka did not compact"
        time.sleep(0.5)
    assert [row["offset"] for row in rows] == [27, 28, 29, 30]
    end = json.dumps({topic: {"0": 20}})
    assert read(kafka, subscribe=topic, endingOffsets=end) == []
    assert values(read(kafka, subscribe=topic, minPartitions="5")) == [b"27", b"28", b"29", b"last"]
