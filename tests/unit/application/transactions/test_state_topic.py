"""What is appended to __transaction_state, in the commit of the rows; its bytes: tests/golden."""

from __future__ import annotations

import pytest

from application.ports.pending import Pending
from domain.errors import BrokerError
from domain.features import TRANSACTION_VERSION
from domain.topics.internal_records import partition_of
from domain.topics.topic import OFFSETS_TOPIC, TRANSACTION_TOPIC
from domain.transactions.state_record import transaction_record
from domain.transactions.transaction import TV_2
from tests.fakes.broker import FakeBroker
from tests.fakes.groups import committed
from tests.fakes.offsets_topic import keyed_records
from tests.fakes.transaction_topic import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    EMPTY,
    ONGOING,
    PREPARE_COMMIT,
    Written,
    states_of,
)
from tests.fakes.transactional_producer import TransactionalProducer

SETTINGS = {
    "offsets_topic": "on",
    "offsets_topic_num_partitions": "1",
    "transaction_state_log_num_partitions": "3",
    "transactional_id_expiration_ms": "5000",
    "transaction_remove_expired_transaction_cleanup_interval_ms": "100",
}


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker(**SETTINGS)
    fake.broker.start_upkeep()
    fake.topic("t", 2)
    fake.scheduler.advance(100)
    return fake


@pytest.fixture
def producer(fake: FakeBroker) -> TransactionalProducer:
    producer = TransactionalProducer(fake)
    producer.init()
    return producer


def test_each_state_is_a_record_in_the_partition_of_its_id(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    producer.sent(0)
    producer.sent(1)
    before = fake.commit.count
    producer.ended()
    assert fake.commit.count == before + 1
    producer.sent()
    producer.ended(committed=False)
    assert states_of(fake) == [
        Written("tx", EMPTY, 0),
        Written("tx", ONGOING, 0, ("t",)),
        Written("tx", ONGOING, 0, ("t",)),
        Written("tx", COMPLETE_COMMIT, 1),
        Written("tx", ONGOING, 1, ("t",)),
        Written("tx", COMPLETE_ABORT, 2),
    ]
    assert fake.partition(TRANSACTION_TOPIC, partition_of("tx", 3)).high_watermark == 6


def test_a_transaction_that_ends_in_two_commits_has_its_prepared_state(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    producer.sent()
    producer = TransactionalProducer(fake.restarted())
    again = producer.fake
    again.log.loading_of = again.existing("t").partition_ids[0]
    again.log.loading = Pending()
    producer.producer = producer.transaction.producer
    producer.ended()
    again.log.load()
    again.scheduler.advance(100)
    assert states_of(again)[-2:] == [
        Written("tx", PREPARE_COMMIT, 1, ("t",)),
        Written("tx", COMPLETE_COMMIT, 1),
    ]


def test_a_group_is_shown_as_its_partition_of_the_committed_offsets(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    producer.coordinator.add_offsets("tx", producer.producer, "g")
    fake.run()
    assert states_of(fake)[-1] == Written("tx", ONGOING, 0, (OFFSETS_TOPIC,))


def test_a_failed_commit_leaves_neither_state_nor_record(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    fake.commit.fail_next()
    producer.send()
    fake.run()
    assert producer.transaction.is_open is False
    assert states_of(fake) == [Written("tx", EMPTY, 0)]


def test_an_expired_transactional_id_has_a_tombstone(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    fake.scheduler.advance(6000)
    assert states_of(fake) == [Written("tx", EMPTY, 0), Written("tx", None)]


def test_without_transaction_version_1_the_records_have_version_0(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    fake.broker.features.update({TRANSACTION_VERSION: 0}, lambda failure: None)
    fake.run()
    producer.init()
    values = [value for _, value in keyed_records(fake, TRANSACTION_TOPIC)]
    assert [value[:2] for value in values if value] == [b"\0\1", b"\0\0"]


def test_an_id_that_no_record_can_hold_is_not_written(fake: FakeBroker) -> None:
    assert not isinstance(TransactionalProducer(fake, "x" * 40_000).init(), BrokerError)
    assert states_of(fake) == []


def test_offsets_of_a_transaction_are_no_records_of_the_other_topic_until_its_end(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    in_transactions = fake.broker.groups.transactional_offsets
    one = committed(5, topic_id=fake.existing("t").topic_id)
    producer.coordinator.add_offsets("tx", producer.producer, "g")
    in_transactions.add("g", producer.producer.producer_id, [("g", "t", 0, one)], lambda _: None)
    fake.run()
    assert fake.partition(OFFSETS_TOPIC, 0).high_watermark == 0
    before = fake.commit.count
    producer.ended()
    assert fake.commit.count == before + 1
    assert fake.partition(OFFSETS_TOPIC, 0).high_watermark == 1
    assert states_of(fake)[-1] == Written("tx", COMPLETE_COMMIT, 1)


def test_a_group_has_the_partition_that_the_topic_gives_it(fake: FakeBroker) -> None:
    """Whatever the setting is by now."""
    fake.close()
    fake = FakeBroker(fake.store, **SETTINGS | {"offsets_topic_num_partitions": "50"})
    fake.broker.start_upkeep()
    producer = TransactionalProducer(fake)
    producer.init()
    assert partition_of("group", 50) != 0
    producer.coordinator.add_offsets("tx", producer.producer, "group")
    fake.run()
    expected = transaction_record(producer.transaction, [(OFFSETS_TOPIC, 0)], TV_2)
    assert list(keyed_records(fake, TRANSACTION_TOPIC))[-1] == expected
