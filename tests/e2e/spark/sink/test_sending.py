"""What a task of the sink reports when records cannot be sent, without a JVM."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from interfaces.spark.kafka import sink_sending
from interfaces.spark.kafka.sink_sending import Sending
from interfaces.spark.query.failures import JobFailed
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import Broker, new_topic, unused_topic_name
from tests.e2e.spark.kafka.topics import options_of


def send(sending: Sending, row: tuple[Any, ...]) -> None:
    sending.send({row[0]}, [row])
    sending.finish()


def reason(servers: str, *row: Any, **options: str) -> str:
    """The failure of a row: topic, value, key, partition and other arguments of `produce`."""
    topic, value, key, partition, *more = row
    sending = Sending(options_of(servers, **options))
    with pytest.raises(JobFailed) as failure:
        send(sending, (topic, value, key, partition, sending.delivered, *more))
    assert "\n" not in str(failure.value)
    return str(failure.value)


def test_a_record_that_is_too_large_is_reported_with_its_size(spark_broker: Broker) -> None:
    servers = spark_broker.bootstrap
    topic = new_topic(spark_broker, max__message__bytes="50000")
    for size, options in (
        (2_000_000, {}),  # larger than max.request.size of the producer
        (60_000, {}),  # larger than max.message.bytes of the topic
        (900_000, {"kafka__buffer__memory": "100000"}),
    ):
        why = reason(servers, topic, b"x" * size, None, -1, **options)
        assert topic in why
        assert str(size) in why


def test_a_timestamp_that_the_topic_refuses_is_reported(spark_broker: Broker) -> None:
    topic = new_topic(spark_broker, message__timestamp__after__max__ms="3600000")
    row = (topic, b"x", None, 0)
    why = reason(spark_broker.bootstrap, *row, None, 33_344_332_800_000, None)
    assert topic in why
    assert "INVALID_TIMESTAMP" in why or "INVALID_RECORD" in why


def test_unknown_partitions_and_topics_are_reported(
    spark_broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink_sending, "_CREATION_S", 0.3)
    topic = new_topic(spark_broker, 2)
    assert reason(spark_broker.bootstrap, topic, b"x", None, 7).endswith("no partition 7")
    with BrokerProcess(tmp_path, "memory", ["--set", "auto.create.topics.enable=false"]) as broker:
        topic = unused_topic_name()
        assert repr(topic) in reason(broker.bootstrap, topic, b"x", None, -1)


def test_a_missing_broker_is_reported_at_once() -> None:
    started = time.monotonic()
    assert "127.0.0.1:1: connection refused" in reason("127.0.0.1:1", "t", b"x", None, -1)
    assert time.monotonic() - started < 10
