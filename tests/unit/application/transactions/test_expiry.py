from __future__ import annotations

import pytest

from domain.errors import InvalidProducerEpoch
from domain.transactions.states import State
from tests.fakes.broker import FakeBroker
from tests.fakes.transactional_producer import TransactionalProducer


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker(
        transaction_abort_timed_out_transaction_cleanup_interval_ms="100",
        transactional_id_expiration_ms="5000",
        transaction_remove_expired_transaction_cleanup_interval_ms="100",
    )
    fake.topic()
    fake.broker.start_upkeep()
    return fake


def test_a_transaction_that_is_open_for_too_long_is_aborted(fake: FakeBroker) -> None:
    slow, fast = (TransactionalProducer(fake, name, 1000) for name in ("slow", "fast"))
    for one in (slow, fast):
        one.init()
    slow.sent()
    fake.scheduler.advance(600)
    fast.sent()
    fake.scheduler.advance(600)
    assert slow.transaction.state is State.COMPLETE_ABORT
    assert fast.transaction.state is State.ONGOING
    assert fake.partition().last_stable_offset == 1, "of the one that is open"
    [event] = fake.events.of("transaction_timed_out")
    assert (event["transactional_id"], event["timeout_ms"]) == ("slow", 1000)
    assert isinstance(slow.send(), InvalidProducerEpoch)
    continued = slow.coordinator.init_producer_id("slow", 1000, slow.producer)
    fake.run()
    continued.then(lambda given: setattr(slow, "producer", given))
    assert slow.producer == (0, 1), "the epoch of the abort (KIP-890)"


def test_an_abort_that_is_not_committed_is_not_counted(fake: FakeBroker) -> None:
    slow = TransactionalProducer(fake, "slow", 1000)
    slow.init()
    slow.sent()
    fake.commit.fail_next()
    fake.scheduler.advance(1200)
    assert fake.commit.failures == []
    assert len(fake.events.of("transaction_timed_out")) == 1
    assert fake.broker.transactions.expiry.timed_out == 1


def test_a_transactional_id_that_is_not_used_is_forgotten(fake: FakeBroker) -> None:
    unused, used = TransactionalProducer(fake, "unused"), TransactionalProducer(fake, "used")
    unused.init()
    used.init()
    fake.scheduler.advance(3000)
    used.sent()
    fake.scheduler.advance(3000)
    registry = fake.broker.transactions.registry
    assert [one.transactional_id for one in registry] == ["used"]
    assert [one.transactional_id for one in fake.restarted().broker.transactions.registry] == [
        "used"
    ]
