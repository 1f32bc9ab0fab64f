from __future__ import annotations

from application.records.send import Delivered, OutgoingRecord
from domain.errors import (
    BrokerError,
    CoordinatorNotAvailable,
    InvalidRecord,
    InvalidTopic,
    UnknownTopicOrPartition,
)
from domain.transactions.states import State
from tests.fakes.batches import TIMESTAMP
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.results import results_of
from tests.fakes.transactional_producer import TransactionalProducer
from tests.fakes.transactions import aborted


def record(value: bytes, partition: int | None = None) -> OutgoingRecord:
    return OutgoingRecord(b"k", value, partition=partition)


def send(
    fake: FakeBroker, *groups: list[OutgoingRecord], topic: str = "t", name: str = "tx"
) -> list[Delivered] | BrokerError:
    pending = fake.broker.messages.send_in_transaction.send(topic, groups, name)
    fake.scheduler.advance(100)
    [result] = results_of(pending)
    return result


def state_of(fake: FakeBroker, name: str = "tx") -> State:
    found = fake.broker.transactions.registry.find(name)
    assert found is not None
    return found.state


def test_all_records_are_committed_in_one_commit() -> None:
    fake = with_topic(partitions=2)
    groups = [record(b"a", 0), record(b"b", 1)], [record(b"c", 0)]
    assert send(fake, *groups) == [
        Delivered(0, 0, TIMESTAMP),
        Delivered(1, 0, TIMESTAMP),
        Delivered(0, 1, TIMESTAMP),
    ]
    assert state_of(fake) is State.COMPLETE_COMMIT
    assert [fake.partition(index=i).last_stable_offset for i in (0, 1)] == [3, 2]
    again = send(fake, [record(b"d", 0)])
    assert again == [Delivered(0, 3, TIMESTAMP + 100)]
    assert aborted(fake) == []


def test_one_refused_record_aborts_all() -> None:
    fake = with_topic(partitions=2)
    fake.topic("compacted", 2, cleanup_policy="compact")
    keyless = OutgoingRecord(None, b"x", partition=1)
    refused = send(fake, [record(b"a", 0), keyless], topic="compacted")
    assert isinstance(refused, InvalidRecord)
    assert state_of(fake) is State.COMPLETE_ABORT
    partition = fake.partition("compacted", 0)
    assert partition.last_stable_offset == partition.high_watermark == 2
    assert [(one.first_offset, one.last_offset) for one in aborted(fake, partition)] == [(0, 1)]
    assert fake.partition("compacted", 1).high_watermark == 1, "the marker"


def test_nothing_is_appended_for_a_partition_or_topic_that_cannot_be_written() -> None:
    fake = with_topic(partitions=2)
    unknown = send(fake, [record(b"a", 0), record(b"b", 7)])
    assert isinstance(unknown, UnknownTopicOrPartition)
    assert fake.partition().high_watermark == 0
    internal = send(fake, [record(b"a")], topic="__transaction_state")
    assert isinstance(internal, InvalidTopic)


def test_a_failed_commit_leaves_no_record() -> None:
    fake = with_topic()
    assert isinstance(send(fake, [record(b"a")]), list)
    pending = fake.broker.messages.send_in_transaction.send("t", [[record(b"b")]], "other")
    fake.commit.fail_next()
    fake.scheduler.advance(100)
    [result] = results_of(pending)
    assert isinstance(result, CoordinatorNotAvailable)
    assert fake.partition().high_watermark == 2


def test_an_open_transaction_of_this_id_is_aborted_and_its_producer_fenced() -> None:
    fake = with_topic()
    producer = TransactionalProducer(fake)
    producer.init()
    producer.sent()
    assert send(fake, [record(b"a")]) == [Delivered(0, 2, TIMESTAMP)]  # after the marker
    assert isinstance(producer.send(), BrokerError)
    assert len(aborted(fake)) == 1


def test_the_first_producer_id_waits_for_the_right() -> None:
    fake = with_topic()
    fake.changes.withhold()
    pending = fake.broker.messages.send_in_transaction.send("t", [[record(b"a", 0)]], "tx")
    fake.run()
    assert not pending.resolved
    fake.changes.give()
    fake.run()
    assert results_of(pending) == [[Delivered(0, 0, TIMESTAMP)]]
