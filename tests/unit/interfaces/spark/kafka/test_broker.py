"""What a driver makes of the answers of brokers that start, and of old ones."""

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


def test_a_leader_that_does_not_know_the_end_yet_is_asked_again() -> None:
    answers: list[Any] = [KafkaError.OFFSET_NOT_AVAILABLE, KafkaError.NOT_LEADER_FOR_PARTITION, 7]

    def ask(left_s: float) -> int:
        answer: int = answers.pop(0)
        if answers:
            raise KafkaException(KafkaError(answer))
        return answer

    asked, _ = broker()
    assert asked._patiently("offsets", ask) == 7


def test_a_broker_without_ids_of_topics_tells_none() -> None:
    asked, options = broker()
    ids = {"new": Uuid(1, 2), "old": Uuid(0, 0)}
    asked._described = lambda topics, left_s: {
        topic: SimpleNamespace(topic_id=ids[topic], partitions=[0]) for topic in topics
    }
    assert len(asked.places(assignment_of(options))) == 2
    assert asked.topic_ids == {"new": str(ids["new"])}
