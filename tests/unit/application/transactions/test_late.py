from __future__ import annotations

import pytest

from application.transactions.registry import TransactionRegistry
from domain.transactions.states import State
from tests.fakes.broker import FakeBroker
from tests.fakes.transactional_producer import TransactionalProducer
from tests.fakes.transactions import append_in_transaction, end_transaction

MAX_TIMEOUT_MS = 60_000
LATE_MS = MAX_TIMEOUT_MS + 5 * 60_000


def test_a_transaction_without_a_coordinator_is_reported_once_when_it_is_late() -> None:
    fake = FakeBroker(transaction_max_timeout_ms=str(MAX_TIMEOUT_MS))
    fake.topic("t")
    fake.broker.start_upkeep()
    append_in_transaction(fake, 7)
    fake.run()
    late = fake.broker.transactions.late
    fake.scheduler.advance(LATE_MS - 20_000)
    assert (late.partition_count, fake.events.of("transaction_hanging")) == (0, [])
    for _ in range(5):
        fake.scheduler.advance(20_000)
    [event] = fake.events.of("transaction_hanging")
    assert (event["topic"], event["producer_id"], event["first_offset"]) == ("t", 7, 0)
    assert late.partition_count == 1
    end_transaction(fake, 7, committed=False)
    fake.scheduler.advance(20_000)
    assert late.partition_count == 0


def test_a_transaction_of_a_coordinator_is_not_late_whatever_its_timestamps() -> None:
    fake = FakeBroker(transaction_max_timeout_ms=str(MAX_TIMEOUT_MS))
    fake.topic("t")
    fake.broker.start_upkeep()
    producer = TransactionalProducer(fake)
    producer.init()
    producer.sent()
    [state] = fake.partition().producers
    state.last_timestamp = 0
    fake.scheduler.advance(20_000)
    assert producer.transaction.state is State.ONGOING
    assert fake.events.of("transaction_hanging") == []


def test_a_transaction_that_was_lost_with_its_commit_is_not_late() -> None:
    """Its partition has it in memory, until it is used again."""
    fake = FakeBroker(transaction_max_timeout_ms=str(MAX_TIMEOUT_MS))
    fake.topic("t")
    append_in_transaction(fake, 7)
    fake.commit.fail_next()
    fake.run()
    fake.clock.advance(2 * LATE_MS)
    assert list(fake.broker.transactions.late._look()) == []
    assert fake.events.of("transaction_hanging") == []


def test_a_look_goes_through_all_transactional_ids_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Timestamps of clients may be old in all open transactions."""
    fake = FakeBroker()
    fake.topic("t", partitions=3)
    producer = TransactionalProducer(fake)
    producer.init()
    for index in range(3):
        producer.sent(index)
        [state] = fake.partition(index=index).producers
        state.last_timestamp = 0
    looks = []
    every = TransactionRegistry.__iter__
    monkeypatch.setattr(
        TransactionRegistry, "__iter__", lambda registry: looks.append(1) or every(registry)
    )
    assert list(fake.broker.transactions.late._look()) == []
    assert looks == [1]
    assert fake.events.of("transaction_hanging") == []
