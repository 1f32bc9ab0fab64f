"""min.insync.replicas counts the copies in the store; other tests have what Kafka does with it."""

from __future__ import annotations

import pytest

from application.state.min_insync_replicas import MinInsyncReplicas
from domain.configs.topic import TopicConfig
from domain.errors import CoordinatorNotAvailable, NotEnoughReplicas
from domain.transactions.states import State
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.copies import FakeCopies
from tests.fakes.transactional_producer import TransactionalProducer


@pytest.mark.parametrize("count, required, under", [(1, 1, 0), (1, 2, 1), (2, 2, 0), (2, 3, 1)])
def test_the_store_needs_as_many_copies(count: int, required: int, under: bool) -> None:
    config = TopicConfig(min_insync_replicas=required)
    assert MinInsyncReplicas(FakeCopies(count)).is_under(config) == under
    assert not MinInsyncReplicas(None).is_under(config), "the topic has one replica"


def test_too_few_copies_refuse_a_batch_before_it_is_staged() -> None:
    fake = FakeBroker(copies=FakeCopies(1))
    fake.topic("t", min_insync_replicas="2")
    refused = fake.append(record_batch(["a"]))
    assert isinstance(refused, NotEnoughReplicas)
    assert refused.message == (
        "min.insync.replicas of t-0 is 2, but the storage has 1 copy: the database and its "
        "connected synchronous standbys, 0 now"
    )
    assert not fake.store.staged
    assert fake.partition().traffic.failed_appends == 1


def test_markers_of_a_transaction_wait_for_copies() -> None:
    """As in Kafka: EndTxn succeeds, and readers of committed records see no more until then."""
    copies = FakeCopies(2)
    fake = FakeBroker(copies=copies)
    fake.topic("t", min_insync_replicas="2")
    producer = TransactionalProducer(fake)
    producer.init()
    producer.sent()
    copies.count = 1
    producer.ended()
    assert producer.transaction.state is State.PREPARE_COMMIT
    assert fake.partition().last_stable_offset == 0
    copies.count = 2
    fake.scheduler.advance(60_000)
    assert producer.transaction.state is State.COMPLETE_COMMIT
    assert fake.partition().last_stable_offset == 2


def test_transactions_need_the_copies_of_their_topic() -> None:
    copies = FakeCopies(2)
    settings = {"offsets_topic": "on", "transaction_state_log_min_isr": "2"}
    fake = FakeBroker(copies=copies, **settings)
    fake.broker.start_upkeep()
    fake.scheduler.advance(100)
    fake.topic("t")
    producer = TransactionalProducer(fake)
    producer.init()
    copies.count = 1
    # Produce adds the partition first.
    assert isinstance(producer.send(), NotEnoughReplicas)
    for call in (producer.init, producer.end):
        with pytest.raises(CoordinatorNotAvailable):
            call()
    copies.count = 2
    producer.sent()
    producer.ended()
    assert producer.transaction.state is State.COMPLETE_COMMIT
