from __future__ import annotations

import pytest

from application.ports.pending import Pending
from application.state.runtime import ignore
from domain.errors import ConcurrentTransactions, StorageFailed
from domain.messages.control import EndMarker
from domain.transactions.states import State
from domain.transactions.transaction import TV_0
from infrastructure.storage.repositories.partition_rows import KEY
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.transactional_producer import TransactionalProducer


@pytest.fixture
def fake() -> FakeBroker:
    return with_topic(partitions=2)


def restarted_with_an_open_transaction(fake: FakeBroker) -> TransactionalProducer:
    """The partitions are not loaded."""
    producer = TransactionalProducer(fake)
    producer.init()
    producer.sent(0)
    producer.sent(1)
    producer.fake = fake.restarted()
    return producer


def hold_back(fake: FakeBroker) -> None:
    """One partition is not in memory."""
    fake.log.loading = Pending()
    fake.log.loading_of = fake.existing().partition_ids[0]


def test_a_transaction_ends_when_its_partitions_are_in_memory(fake: FakeBroker) -> None:
    producer = restarted_with_an_open_transaction(fake)
    again = producer.fake
    hold_back(again)
    assert producer.end() == [], "prepared, not durable yet"
    again.run()
    assert producer.transaction.state is State.PREPARE_COMMIT
    with pytest.raises(ConcurrentTransactions):
        producer.end()
    again.log.load()
    again.run()
    assert producer.transaction.state is State.COMPLETE_COMMIT
    assert [again.partition(index=i).last_stable_offset for i in (0, 1)] == [2, 2]


def test_a_start_ends_prepared_transactions(fake: FakeBroker) -> None:
    producer = restarted_with_an_open_transaction(fake)
    hold_back(producer.fake)
    assert producer.ended() == (0, 1)
    producer.fake = producer.fake.restarted()
    assert producer.transaction.state is State.PREPARE_COMMIT
    producer.fake.broker.start_upkeep()
    producer.fake.run()
    assert producer.transaction.state is State.COMPLETE_COMMIT
    assert producer.fake.partition().last_stable_offset == 2


def test_the_end_is_repeated_until_the_store_can_be_read_and_written(fake: FakeBroker) -> None:
    producer = restarted_with_an_open_transaction(fake)
    again = producer.fake
    again.log.failing = StorageFailed("cannot read")
    assert producer.ended() == (0, 1)
    again.scheduler.advance(1000)
    assert producer.transaction.state is State.PREPARE_COMMIT
    again.log.failing = None
    again.commit.fail_next()
    again.scheduler.advance(2000)
    assert producer.transaction.state is State.PREPARE_COMMIT
    again.scheduler.advance(4000)
    assert producer.transaction.state is State.COMPLETE_COMMIT
    assert [again.partition(index=i).last_stable_offset for i in (0, 1)] == [2, 2]
    assert [again.partition(index=i).end.next_offset for i in (0, 1)] == [2, 2], "one marker each"


def test_a_deleted_topic_does_not_hold_up_the_end(fake: FakeBroker) -> None:
    producer = restarted_with_an_open_transaction(fake)
    again = producer.fake
    again.broker.topics.delete_topics.delete([again.existing()])
    again.run()
    assert producer.ended() == (0, 1)
    assert producer.transaction.state is State.COMPLETE_COMMIT


def test_a_state_that_cannot_be_read_leaves_nothing_staged(fake: FakeBroker) -> None:
    producer = TransactionalProducer(fake)
    producer.init()
    producer.coordinator.add_partitions("tx", producer.producer, [("t", 0), ("t", 1)])
    producer.sent(0)
    fake.partition(index=1).request_snapshot()
    fake.broker.commits.touch(fake.partition(index=1))
    fake.run()
    producer.fake = again = fake.restarted()
    row = KEY.pack(again.existing().partition_ids[1], producer.producer.producer_id)
    again.core.storage.state.put("producers", row, b"damaged")
    again.broker.commits.when_committed(ignore)
    again.run()
    assert producer.ended() == (0, 1)
    again.scheduler.advance(10_000)
    assert producer.transaction.state is State.PREPARE_COMMIT
    assert again.partition().end.next_offset == 1, "no marker"
    [event] = again.events.of("partition_unreadable")
    assert (event["topic"], event["partition"]) == ("t", 1)
    again.core.storage.state.put("producers", row, None)
    again.broker.commits.when_committed(ignore)
    again.scheduler.advance(60_000)
    assert producer.transaction.state is State.COMPLETE_COMMIT
    assert [again.partition(index=i).end.next_offset for i in (0, 1)] == [2, 1]


def test_a_transaction_ends_after_a_marker_with_a_later_coordinator_epoch(fake: FakeBroker) -> None:
    """As of `kafka-transactions abort --coordinator-epoch`."""
    producer = TransactionalProducer(fake)
    producer.init()
    producer.sent()
    marker = EndMarker(*producer.producer, coordinator_epoch=5, committed=False)
    fake.broker.messages.transaction_markers.write(fake.partition(), marker, TV_0)
    producer.ended()
    producer.sent()
    producer.ended()
    assert fake.partition().last_stable_offset == fake.partition().high_watermark
