"""aiokafka's transactional producer; its loop runs while a call does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import ProducerFenced

from tests.e2e.test_aiokafka import assigned_consumer, next_record
from tests.e2e.transactions.stories import Fenced, TransactionStories

Run = Callable[[Coroutine[Any, Any, Any]], Any]


class TransactionalProducer:
    def __init__(self, run: Run, inner: AIOKafkaProducer) -> None:
        self.run, self.inner = run, inner

    def begin(self) -> None:
        self.run(self.inner.begin_transaction())

    def send(self, topic: str, *values: str, partition: int = 0) -> None:
        for value in values:
            self.run(self.inner.send_and_wait(topic, value.encode(), partition=partition))

    def send_offsets(self, member: Member) -> None:
        self.run(self.inner.send_offsets_to_transaction(member.positions, member.group))

    def commit(self) -> None:
        try:
            self.run(self.inner.commit_transaction())
        except ProducerFenced as failure:
            raise Fenced from failure

    def abort(self) -> None:
        self.run(self.inner.abort_transaction())


class Member:
    def __init__(self, run: Run, group: str, inner: AIOKafkaConsumer, count: int) -> None:
        self.run, self.group, self.inner = run, group, inner
        self.values = [run(next_record(inner)).value.decode() for _ in range(count)]
        self.positions = {one: run(inner.position(one)) for one in inner.assignment()}

    def close(self) -> None:
        self.run(self.inner.stop())


class Aiokafka:
    def __init__(self, run: Run, bootstrap: str) -> None:
        self.run, self.bootstrap = run, bootstrap
        self.producers: list[AIOKafkaProducer] = []

    async def _started(self, kind: type, *arguments: str, **settings: Any) -> Any:
        started = kind(*arguments, bootstrap_servers=self.bootstrap, **settings)
        await started.start()
        return started

    def producer(self, transactional_id: str, timeout_ms: int) -> TransactionalProducer:
        settings = {"transactional_id": transactional_id, "transaction_timeout_ms": timeout_ms}
        inner = self.run(self._started(AIOKafkaProducer, **settings))
        self.producers.append(inner)
        return TransactionalProducer(self.run, inner)

    def consumer(self, group: str, topic: str, count: int) -> Member:
        settings = {"enable_auto_commit": False, "auto_offset_reset": "earliest"}
        level = {"isolation_level": "read_committed", "fetch_max_wait_ms": 100}
        member = self._started(AIOKafkaConsumer, topic, group_id=group, **settings, **level)
        return Member(self.run, group, self.run(member), count)

    def read(self, topic: str, count: int, committed: bool, partitions: int = 1) -> list[str]:
        return self.run(self._read(topic, count, committed, partitions))

    async def _read(self, topic: str, count: int, committed: bool, partitions: int) -> list[str]:
        level = "read_committed" if committed else "read_uncommitted"
        reading = assigned_consumer(self.bootstrap, topic, 0, partitions, isolation_level=level)
        async with reading as consumer:
            return [(await next_record(consumer)).value.decode() for _ in range(count)]

    async def stop(self) -> None:
        await asyncio.gather(*(one.stop() for one in self.producers))


class TestAiokafka(TransactionStories):
    @pytest.fixture
    def client(self, bootstrap: str) -> Iterator[Aiokafka]:
        with asyncio.Runner() as runner:
            client = Aiokafka(runner.run, bootstrap)
            yield client
            runner.run(client.stop())
