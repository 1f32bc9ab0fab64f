"""The requests of the driver to brokers that are starting, and to old brokers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Uuid

from interfaces.spark.kafka.broker import Broker
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.query.assignment import assignment_of


def broker() -> tuple[Any, KafkaOptions]:
    options = KafkaOptions({"kafka.bootstrap.servers": "b:1", "subscribe": "new,old"})
    made: Any = Broker(options)
    made._admin = SimpleNamespace(poll=lambda timeout: 0)
    return made, options


def test_list_offsets_is_retried_while_a_leader_has_no_high_watermark() -> None:
    results: list[Any] = [KafkaError.OFFSET_NOT_AVAILABLE, KafkaError.NOT_LEADER_FOR_PARTITION, 7]

    def request(left_s: float) -> int:
        result: int = results.pop(0)
        if results:
            raise KafkaException(KafkaError(result))
        return result

    starting, _ = broker()
    assert starting._patiently("offsets", request) == 7


def test_brokers_without_topic_ids_give_none() -> None:
    old, options = broker()
    ids = {"new": Uuid(1, 2), "old": Uuid(0, 0)}
    old._described = lambda topics, left_s: {
        topic: SimpleNamespace(topic_id=ids[topic], partitions=[0]) for topic in topics
    }
    assert len(old.places(assignment_of(options))) == 2
    assert old.topic_ids == {"new": str(ids["new"])}
