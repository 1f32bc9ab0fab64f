"""librdkafka's transactional producer, through confluent-kafka."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from tests.e2e.librdkafka import PATIENCE_S, deliver, next_message, producer
from tests.e2e.transactions.stories import Fenced, TransactionStories

CONSUMER = {"enable.auto.commit": False, "auto.offset.reset": "earliest", "fetch.wait.max.ms": 100}


class TransactionalProducer:
    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        self.inner = producer(
            bootstrap, transactional_id=transactional_id, transaction_timeout_ms=timeout_ms
        )
        self.inner.init_transactions(PATIENCE_S)

    def begin(self) -> None:
        self.inner.begin_transaction()

    def send(self, topic: str, *values: str, partition: int = 0) -> None:
        encoded = (value.encode() for value in values)
        assert not deliver(self.inner, topic, *encoded, partition=partition).errors

    def send_offsets(self, member: Member) -> None:
        positions = member.inner.position(member.inner.assignment())
        group = member.inner.consumer_group_metadata()
        self.inner.send_offsets_to_transaction(positions, group, PATIENCE_S)

    def commit(self) -> None:
        self._end(self.inner.commit_transaction)

    def abort(self) -> None:
        self._end(self.inner.abort_transaction)

    def _end(self, end: Callable[[float], None]) -> None:
        try:
            end(PATIENCE_S)
        except KafkaException as failure:
            if failure.args[0].code() == KafkaError._FENCED:
                raise Fenced from failure
            raise


class Member:
    def __init__(self, bootstrap: str, group: str, topic: str, count: int) -> None:
        self.inner = Consumer({"bootstrap.servers": bootstrap, "group.id": group} | CONSUMER)
        self.inner.subscribe([topic])
        self.values = [text(next_message(self.inner).value()) for _ in range(count)]

    def close(self) -> None:
        self.inner.close()


class Librdkafka:
    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def producer(self, transactional_id: str, timeout_ms: int) -> TransactionalProducer:
        return TransactionalProducer(self.bootstrap, transactional_id, timeout_ms)

    def consumer(self, group: str, topic: str, count: int) -> Member:
        return Member(self.bootstrap, group, topic, count)

    def read(self, topic: str, count: int, committed: bool, partitions: int = 1) -> list[str]:
        level = "read_committed" if committed else "read_uncommitted"
        settings: dict[str, Any] = {"bootstrap.servers": self.bootstrap, "group.id": "unused"}
        consumer = Consumer(settings | {"isolation.level": level} | CONSUMER)
        consumer.assign([TopicPartition(topic, index, 0) for index in range(partitions)])
        values = [text(next_message(consumer).value()) for _ in range(count)]
        consumer.close()
        return values


def text(value: bytes | None) -> str:
    assert value is not None
    return value.decode()


class TestLibrdkafka(TransactionStories):
    @pytest.fixture
    def client(self, bootstrap: str) -> Librdkafka:
        return Librdkafka(bootstrap)
