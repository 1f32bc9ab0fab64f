"""The driver's requests to brokers that are starting, and to old ones."""

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
    answers: list[Any] = [KafkaError.OFFSET_NOT_AVAILABLE, KafkaError.NOT_LEADER_FOR_PARTITION, 7]

    def ask(left_s: float) -> int:
        answer: int = answers.pop(0)
        if answers:
            raise KafkaException(KafkaError(answer))
        return answer

    asked, _ = broker()
    assert asked._patiently("offsets", ask) == 7


def test_brokers_without_topic_ids_give_none() -> None:
    asked, options = broker()
    ids = {"new": Uuid(1, 2), "old": Uuid(0, 0)}
    asked._described = lambda topics, left_s: {
        topic: SimpleNamespace(topic_id=ids[topic], partitions=[0]) for topic in topics
    }
    assert len(asked.places(assignment_of(options))) == 2
    assert asked.topic_ids == {"new": str(ids["new"])}
