from __future__ import annotations

import pytest

from application.groups.offset_commit import OffsetCommit
from application.transactions.coordinator import SupportedOperation
from domain.errors import (
    BrokerError,
    ConcurrentTransactions,
    CoordinatorNotAvailable,
    NotCoordinator,
    NotEnoughReplicas,
)
from domain.groups.group import NO_EPOCH
from domain.topics.topic import OFFSETS_TOPIC, TRANSACTION_TOPIC
from domain.transactions.states import State
from tests.fakes.cluster_producer import ClusterProducer
from tests.fakes.groups import committed
from tests.fakes.offset_requests import offsets_of
from tests.fakes.shared_store import SharedStore
from tests.fakes.transactional_producer import TransactionalProducer
from tests.fakes.two_brokers import OneOfTwo, TwoBrokers

HOUR_MS = 3_600_000


@pytest.fixture
def two() -> TwoBrokers:
    return TwoBrokers()


@pytest.fixture
def producer(two: TwoBrokers) -> TransactionalProducer:
    """With an open transaction in both partitions and a group."""
    found = TransactionalProducer(two.first)
    found.init()
    found.sent(0)
    found.sent(1)
    add_offset(two.first, found)
    return found


def add_offset(broker: OneOfTwo, producer: TransactionalProducer) -> None:
    groups = broker.broker.groups
    producer.coordinator.add_offsets("tx", producer.producer, "g")
    groups.transactional_offsets.check(OffsetCommit("g", "", None, NO_EPOCH))
    one = committed(5, topic_id=broker.existing().topic_id, at_ms=broker.clock.now_ms())
    failures: list[BrokerError | None] = []
    writes = [("g", "t", 0, one)]
    groups.transactional_offsets.add("g", producer.producer.producer_id, writes, failures.append)
    broker.run()
    assert failures == [None]


def stable_offsets(broker: OneOfTwo) -> list[int]:
    return [broker.partition(index=one).last_stable_offset for one in (0, 1)]


def test_a_transaction_that_was_prepared_elsewhere_ends_here(
    two: TwoBrokers, producer: TransactionalProducer
) -> None:
    two.move(2, ["t"])
    producer.ended()
    assert producer.transaction.state is State.PREPARE_COMMIT
    two.move(2)
    producer.fake = two.second
    two.second.run()
    assert producer.transaction.state is State.COMPLETE_COMMIT
    assert stable_offsets(two.second) == [2, 2]
    assert offsets_of(two.second.client(), "g") == {"t": {0: 5}}
    two.first.scheduler.advance(HOUR_MS)
    assert two.first.broker.transactions.registry.find("tx") is None
    assert [two.second.partition(index=one).end.next_offset for one in (0, 1)] == [2, 2]


def test_an_open_transaction_continues_and_ends_on_another_node(
    two: TwoBrokers, producer: TransactionalProducer
) -> None:
    two.move(2)
    with pytest.raises(NotCoordinator):
        producer.end()
    producer.fake = two.second
    producer.sent(0)
    producer.ended(committed=False)
    assert producer.transaction.state is State.COMPLETE_ABORT
    assert offsets_of(two.second.client(), "g") == {}
    two.move(1)
    producer.fake = two.first
    assert producer.transaction.state is State.COMPLETE_ABORT
    producer.init()


def test_it_times_out_only_where_it_is_coordinated(
    two: TwoBrokers, producer: TransactionalProducer
) -> None:
    for one in (two.first, two.second):
        one.broker.start_upkeep()
    two.move(2)
    before = two.first.stored(TRANSACTION_TOPIC), dict(two.first.store.tables["transactions"])
    two.first.scheduler.advance(HOUR_MS)
    assert two.first.broker.transactions.expiry.timed_out == 0
    after = two.first.stored(TRANSACTION_TOPIC), dict(two.first.store.tables["transactions"])
    assert after == before
    two.second.scheduler.advance(HOUR_MS)
    producer.fake = two.second
    assert producer.transaction.state is State.COMPLETE_ABORT


@pytest.mark.parametrize("elsewhere", ["t", OFFSETS_TOPIC])
def test_the_end_waits_for_partitions_and_groups_that_are_led_elsewhere(
    two: TwoBrokers, producer: TransactionalProducer, elsewhere: str
) -> None:
    two.move(2, [elsewhere])
    producer.ended()
    assert producer.transaction.state is State.PREPARE_COMMIT
    commits, lines = two.first.commit.count, len(two.first.events.lines)
    two.first.scheduler.advance(HOUR_MS)
    assert (two.first.commit.count, len(two.first.events.lines)) == (commits, lines)
    with pytest.raises(ConcurrentTransactions):
        producer.init()
    two.move(1, [elsewhere])
    two.first.scheduler.advance(60_000)
    assert producer.transaction.state is State.COMPLETE_COMMIT
    assert offsets_of(two.first.client(), "g") == {"t": {0: 5}}


def test_batches_whose_transaction_is_coordinated_elsewhere_are_refused(
    two: TwoBrokers, producer: TransactionalProducer
) -> None:
    producer.ended()
    two.move(2, [TRANSACTION_TOPIC])
    for operation in SupportedOperation:
        refused = producer.send(0, operation)
        assert isinstance(refused, NotEnoughReplicas)
        assert refused.message.endswith("Node 2 coordinates tx.")
    with pytest.raises(CoordinatorNotAvailable, match="Node 2 coordinates tx"):
        producer.coordinator.admit_offsets(
            "tx", producer.producer, "g", SupportedOperation.ADD_PARTITION
        )
    two.first.run()
    assert two.first.partition().end.next_offset == 2


def test_a_new_producer_id_that_comes_after_the_move_is_not_used(two: TwoBrokers) -> None:
    two.first.commit.hold()
    outcomes: list[object] = []
    coordinator = two.first.broker.transactions.coordinator
    coordinator.init_producer_id("tx", 1000, None).then(outcomes.append)
    two.first.run()
    two.lose(2)
    two.first.commit.let_go()
    two.first.run()
    [refused] = outcomes
    assert isinstance(refused, NotCoordinator)


@pytest.mark.parametrize("fails", [False, True])
def test_a_commit_that_ends_after_the_move_brings_nothing_back(
    two: TwoBrokers, producer: TransactionalProducer, fails: bool
) -> None:
    two.first.commit.hold()
    outcomes = producer.end()
    two.first.run()
    two.lose(2)
    if fails:
        two.first.commit.let_fail()
    else:
        two.first.commit.let_go()
    two.first.run()
    assert isinstance(outcomes[0], CoordinatorNotAvailable) is fails
    assert list(two.first.broker.transactions.registry) == []
    two.gain(2)
    producer.fake = two.second
    assert producer.transaction.state is (State.ONGOING if fails else State.COMPLETE_COMMIT)


def test_a_transaction_that_begins_while_leader_epochs_rise_is_kept() -> None:
    """As after the promotion of a standby."""
    shared = SharedStore()
    broker = shared.start(1, offsets_topic="on")
    shared.topic()
    producer = ClusterProducer(shared)
    assert producer.init() == 0
    broker.commit.hold()
    broker.changes.promoted(1000, losses=1)
    broker.scheduler.advance(20)
    assert broker.commit.under_way
    broker.scheduler.after_ms(10, broker.commit.let_go)
    assert producer.add(0) == {0}
    assert producer.state == "Ongoing"
    assert producer.produce(0) == {0}
    assert producer.end() == 0
