"""The stories of transactional producers, the same for all clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol
from uuid import uuid4

import pytest
from confluent_kafka import TopicPartition

from tests.e2e.conftest import CreateTopic
from tests.e2e.librdkafka import PATIENCE_S, assigned_consumer, deliver, producer

TIMEOUT_MS = 60_000
#: The least that librdkafka accepts.
SHORT_TIMEOUT_MS = 1_000
PARTITIONS = 50


class Refused(Exception):
    """The transaction cannot be committed."""


class Fenced(Refused):
    """The client's own exception for a producer that is fenced."""


class Consumer(Protocol):
    """A member of a group."""

    #: Values of the records it has consumed.
    values: Sequence[str]

    def close(self) -> None: ...


class Producer(Protocol):
    def begin(self) -> None: ...

    def send(self, topic: str, *values: str, partition: int = 0) -> None:
        """Waits for the acknowledgement."""

    def send_offsets(self, consumer: Consumer) -> None: ...

    def commit(self) -> None: ...

    def abort(self) -> None: ...


class Client(Protocol):
    def producer(self, transactional_id: str, timeout_ms: int) -> Producer: ...

    def consumer(self, group: str, topic: str, count: int) -> Consumer:
        """With READ_COMMITTED; it has consumed so many records."""

    def read(self, topic: str, count: int, committed: bool, partitions: int = 1) -> list[str]:
        """So many records, from the start of the log."""


StartProducer = Callable[..., Producer]


class TransactionStories:
    """A file has a fixture `client`."""

    @pytest.fixture
    def start(self, client: Client) -> StartProducer:
        def started(name: str = "", timeout_ms: int = TIMEOUT_MS) -> Producer:
            return client.producer(name or uuid4().hex, timeout_ms)

        return started

    def test_only_read_uncommitted_sees_an_aborted_transaction(
        self, client: Client, start: StartProducer, topic: str
    ) -> None:
        one = start()
        for values, end in ((("a", "b"), one.commit), (("c",), one.abort), (("d",), one.commit)):
            one.begin()
            one.send(topic, *values)
            end()
        assert client.read(topic, 3, committed=True) == ["a", "b", "d"]
        assert client.read(topic, 4, committed=False) == ["a", "b", "c", "d"]

    def test_offsets_of_a_group_are_committed_with_the_transaction(
        self, client: Client, start: StartProducer, create_topic: CreateTopic, bootstrap: str
    ) -> None:
        source, target, group = create_topic(), create_topic(), uuid4().hex
        deliver(producer(bootstrap), source, b"1", b"2", b"3")
        copier = start()
        for attempt, offset in (("aborted", -1001), ("committed", 3)):
            consumer = client.consumer(group, source, 3)
            assert list(consumer.values) == ["1", "2", "3"]
            copier.begin()
            copier.send(target, *(f"{attempt} {value}" for value in consumer.values))
            copier.send_offsets(consumer)
            copier.abort() if attempt == "aborted" else copier.commit()
            consumer.close()
            assert committed_offset(bootstrap, group, source) == offset
        copies = [f"committed {n}" for n in (1, 2, 3)]
        assert client.read(target, 3, committed=True) == copies

    def test_a_new_producer_with_the_same_transactional_id_fences_the_old_one(
        self, client: Client, start: StartProducer, topic: str
    ) -> None:
        name = uuid4().hex
        old = start(name)
        old.begin()
        old.send(topic, "of the old producer")
        new = start(name)
        new.begin()  # KafkaJS initializes here
        with pytest.raises(Fenced):
            old.commit()
        new.send(topic, "of the new producer")
        new.commit()
        assert client.read(topic, 1, committed=True) == ["of the new producer"]

    def test_a_transaction_that_times_out_is_aborted(
        self, client: Client, start: StartProducer, topic: str
    ) -> None:
        slow, other = start(timeout_ms=SHORT_TIMEOUT_MS), start()
        slow.begin()
        slow.send(topic, "too late")
        other.begin()
        other.send(topic, "in time")
        other.commit()
        assert client.read(topic, 1, committed=True) == ["in time"]  # waits for the timeout
        with pytest.raises(Refused):
            slow.commit()

    def test_open_transactions_of_one_partition_end_in_any_order(
        self, client: Client, start: StartProducer, topic: str
    ) -> None:
        first, second, third = (start() for _ in range(3))
        for number in range(2):
            for letter, one in (("a", first), ("b", second), ("c", third)):
                if number == 0:
                    one.begin()
                one.send(topic, f"{letter}{number}")
        third.commit()
        second.abort()
        first.commit()
        assert client.read(topic, 4, committed=True) == ["a0", "c0", "a1", "c1"]
        everything = ["a0", "b0", "c0", "a1", "b1", "c1"]
        assert client.read(topic, 6, committed=False) == everything

    def test_a_transaction_has_records_in_fifty_partitions(
        self, client: Client, start: StartProducer, create_topic: CreateTopic
    ) -> None:
        topic, one = create_topic(PARTITIONS), start()
        for word, end in (("aborted", one.abort), ("committed", one.commit)):
            one.begin()
            for partition in range(PARTITIONS):
                one.send(topic, f"{word} {partition}", partition=partition)
            end()
        found = client.read(topic, PARTITIONS, committed=True, partitions=PARTITIONS)
        assert sorted(found) == sorted(f"committed {n}" for n in range(PARTITIONS))


def committed_offset(bootstrap: str, group: str, topic: str) -> int:
    with assigned_consumer(bootstrap, topic, group_id=group) as consumer:
        (found,) = consumer.committed([TopicPartition(topic, 0)], PATIENCE_S)
    return int(found.offset)
