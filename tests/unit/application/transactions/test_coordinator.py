from __future__ import annotations

import pytest

from application.partitions.init_producer_id import BLOCK_SIZE
from application.transactions.coordinator import SupportedOperation
from domain.errors import (
    BrokerError,
    ConcurrentTransactions,
    CoordinatorNotAvailable,
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    InvalidTransactionTimeout,
    InvalidTxnState,
    NotCoordinator,
    NotEnoughReplicas,
    OutOfOrderSequence,
    ProducerFenced,
    TransactionAbortable,
)
from domain.partitions.appended import Appended
from domain.transactions.states import State
from domain.transactions.transaction import LAST_EPOCH, TV_0, ProducerIdAndEpoch
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.transactional_producer import TransactionalProducer, outcome
from tests.fakes.transactions import end_transaction

ADD, DEFAULT, GENERIC = (
    SupportedOperation.ADD_PARTITION,
    SupportedOperation.DEFAULT_ERROR,
    SupportedOperation.GENERIC_ERROR_SUPPORTED,
)


@pytest.fixture
def fake() -> FakeBroker:
    return with_topic(partitions=2)


@pytest.fixture
def producer(fake: FakeBroker) -> TransactionalProducer:
    producer = TransactionalProducer(fake)
    producer.init()
    return producer


def test_each_new_producer_of_a_transactional_id_gets_the_next_epoch(fake: FakeBroker) -> None:
    producer = TransactionalProducer(fake)
    assert [producer.init() for _ in range(3)] == [(0, 0), (0, 1), (0, 2)]
    assert TransactionalProducer(fake, "other").init() == (1, 0)
    again = TransactionalProducer(fake.restarted())
    assert again.init() == (0, 3)


@pytest.mark.parametrize("timeout_ms", [-1, 0, 900_001, 2**31 - 1])
def test_a_timeout_above_the_maximum_is_refused(fake: FakeBroker, timeout_ms: int) -> None:
    coordinator = fake.broker.transactions.coordinator
    with pytest.raises(InvalidTransactionTimeout):
        coordinator.init_producer_id("tx", timeout_ms, None)
    assert fake.broker.transactions.registry.find("tx") is None


def test_a_committed_transaction_is_in_one_commit_with_its_markers(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    for index in (0, 1):
        producer.sent(index)
    assert [fake.partition(index=i).last_stable_offset for i in (0, 1)] == [0, 0]
    commits = fake.commit.count
    assert producer.ended() == (0, 1)
    assert fake.commit.count == commits + 1
    assert [fake.partition(index=i).last_stable_offset for i in (0, 1)] == [2, 2]
    assert producer.transaction.state is State.COMPLETE_COMMIT
    producer.sent()
    producer.ended(committed=False)
    assert producer.transaction.state is State.COMPLETE_ABORT
    assert fake.partition().last_stable_offset == 4


def test_a_retry_of_the_end_is_refused_when_another_broker_may_coordinate(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    """It may be the end of the next transaction, which that broker has."""
    producer.sent()
    assert producer.ended(version=TV_0) == producer.ended(version=TV_0) == (0, 0)
    fake.placement.has_lease = False
    with pytest.raises(NotCoordinator):
        producer.end(version=TV_0)


def test_a_response_waits_for_the_commit_and_a_retry_of_the_end_too(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    producer.sent()
    fake.commit.hold()
    first = producer.end()
    fake.run()
    retry = producer.end()
    assert first == retry == []
    fake.commit.let_go()
    fake.run()
    assert first == retry == [(0, 1)]


def test_a_lost_commit_leaves_the_transaction_as_it_was(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    producer.sent()
    fake.commit.fail_next()
    lost = producer.end()
    fake.run()
    assert isinstance(lost[0], CoordinatorNotAvailable)
    assert producer.transaction.state is State.ONGOING
    assert fake.partition().last_stable_offset == 0
    assert producer.ended() == (0, 1)
    assert fake.partition().last_stable_offset == 2


def test_changes_that_follow_lost_ones_are_lost_with_them(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    fake.commit.hold()
    first = outcome(producer.coordinator.add_partitions("tx", producer.producer, [("t", 0)]))
    fake.run()
    second = outcome(producer.coordinator.add_offsets("tx", producer.producer, "g"))
    fake.commit.let_fail()
    fake.run()
    assert isinstance(first[0], CoordinatorNotAvailable)
    assert isinstance(second[0], CoordinatorNotAvailable)
    assert producer.transaction.state is State.EMPTY


def test_a_new_producer_aborts_the_open_transaction_and_fences_the_one_before(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    producer.sent()
    commits = fake.commit.count
    newer = TransactionalProducer(fake)
    assert newer.init() == (0, 2), "the abort takes an epoch"
    assert fake.commit.count == commits + 1
    assert fake.partition().last_stable_offset == 2
    assert isinstance(producer.send(), InvalidProducerEpoch)
    for refused in (
        lambda: producer.end(),
        lambda: producer.coordinator.add_partitions("tx", producer.producer, [("t", 0)]),
    ):
        with pytest.raises(ProducerFenced):
            refused()
    newer.sent()
    assert newer.ended() == (0, 3)


@pytest.mark.parametrize(
    ("operation", "refusal"), [(DEFAULT, InvalidTxnState), (GENERIC, TransactionAbortable)]
)
def test_older_clients_add_a_partition_before_they_produce(
    fake: FakeBroker,
    producer: TransactionalProducer,
    operation: SupportedOperation,
    refusal: type[BrokerError],
) -> None:
    assert isinstance(producer.send(operation=operation), refusal)
    added = outcome(producer.coordinator.add_partitions("tx", producer.producer, [("t", 0)]))
    fake.run()
    assert added == [None]
    assert not isinstance(producer.send(operation=operation), BrokerError)
    fake.run()
    assert isinstance(producer.send(1, operation), refusal)
    assert producer.ended(version=TV_0) == (0, 0), "their epoch stays"
    assert isinstance(producer.send(operation=operation), refusal)
    with pytest.raises(refusal):
        producer.coordinator.admit_offsets("tx", producer.producer, "g", operation)


def test_a_batch_of_another_producer_is_refused(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    producer.sent()
    for other, refusal in (
        (ProducerIdAndEpoch(0, 1), InvalidProducerEpoch),
        (ProducerIdAndEpoch(9, 0), InvalidProducerIdMapping),
    ):
        stranger = TransactionalProducer(fake)
        stranger.producer = other
        assert isinstance(stranger.send(), refusal)
    unknown = TransactionalProducer(fake, "unknown")
    unknown.producer = ProducerIdAndEpoch(9, 0)
    assert isinstance(unknown.send(), InvalidProducerIdMapping)
    assert fake.partition().end.next_offset == 1


def test_the_first_batch_of_a_producer_must_not_overtake_refused_ones(
    producer: TransactionalProducer,
) -> None:
    producer.sequences[0] = 1
    assert isinstance(producer.send(), OutOfOrderSequence)
    assert producer.transaction.partitions == {("t", 0)}, "the partition is added first"
    producer.sequences[0] = 0
    assert producer.sent().base_offset == 0


@pytest.mark.parametrize("operation", [DEFAULT, GENERIC])
def test_a_batch_behind_one_that_was_refused_before_its_partition_was_added_is_refused(
    fake: FakeBroker, producer: TransactionalProducer, operation: SupportedOperation
) -> None:
    producer.sequences[0] = 3
    assert isinstance(producer.send(operation=operation), BrokerError)
    producer.coordinator.add_partitions("tx", producer.producer, [("t", 0)])
    producer.sequences[0] = 4
    assert isinstance(producer.send(operation=operation), OutOfOrderSequence)
    for producer.sequences[0] in (3, 4):
        assert isinstance(producer.send(operation=operation), Appended)


@pytest.mark.parametrize("operation", [ADD, DEFAULT, GENERIC])
def test_a_batch_below_the_epoch_of_its_partition_adds_nothing(
    fake: FakeBroker, producer: TransactionalProducer, operation: SupportedOperation
) -> None:
    end_transaction(fake, producer.producer.producer_id, committed=False, epoch=1)
    assert isinstance(producer.send(operation=operation), InvalidProducerEpoch)
    assert producer.transaction.state is State.EMPTY


def test_partitions_without_records_get_markers_in_version_1(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    for _ in range(2):
        producer.coordinator.add_partitions("tx", producer.producer, [("t", 0), ("t", 1)])
        assert producer.ended(version=TV_0) == (0, 0)
    assert [fake.partition(index=i).high_watermark for i in (0, 1)] == [2, 2]


def test_offsets_of_a_group_start_a_transaction(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    producer.coordinator.admit_offsets("tx", producer.producer, "g", ADD)
    fake.run()
    assert (producer.transaction.state, producer.transaction.groups) == (State.ONGOING, {"g"})
    producer.ended()
    assert producer.transaction.groups == set()


def test_while_a_transaction_ends_clients_are_to_retry(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    producer.sent()
    fake.log.failing = None
    partition = fake.partition()
    partition.broken = None
    prepared = producer.transaction._replace(state=State.PREPARE_ABORT)
    fake.broker.transactions.registry.put(prepared)
    for operation, refusal in ((ADD, ConcurrentTransactions), (DEFAULT, NotEnoughReplicas)):
        assert isinstance(producer.send(1, operation), refusal)
    with pytest.raises(CoordinatorNotAvailable):
        producer.coordinator.admit_offsets("tx", producer.producer, "g", GENERIC)
    with pytest.raises(ConcurrentTransactions):
        producer.coordinator.init_producer_id("tx", 1000, None)


def test_exhausted_epochs_give_a_new_producer_id_from_a_new_block(
    fake: FakeBroker, producer: TransactionalProducer
) -> None:
    exhausted = producer.transaction._replace(epoch=LAST_EPOCH)
    fake.broker.transactions.registry.put(exhausted)
    producer.producer = exhausted.producer
    ids = fake.broker.messages.init_producer_id
    for _ in range(BLOCK_SIZE - 1):
        ids.new_producer_id()
    producer.sent()
    last = producer.producer
    assert producer.ended() == (BLOCK_SIZE, 0)
    retry = outcome(producer.coordinator.end("tx", last, True, 2))
    fake.run()
    assert retry == [(BLOCK_SIZE, 0)]
    assert fake.partition().last_stable_offset == 2
    producer.sent()
    assert producer.ended() == (BLOCK_SIZE, 1)


def test_without_room_for_a_new_producer_id_the_client_is_to_retry(fake: FakeBroker) -> None:
    fake.commit.fail_next()
    found = outcome(fake.broker.transactions.coordinator.init_producer_id("tx", 1000, None))
    fake.run()
    assert isinstance(found[0], CoordinatorNotAvailable)
    assert TransactionalProducer(fake).init() == (0, 0)


def test_a_producer_that_is_fenced_in_an_open_transaction_is_logged(fake: FakeBroker) -> None:
    first, second = TransactionalProducer(fake), TransactionalProducer(fake)
    first.init()
    second.init()
    assert fake.events.of("producer_fenced") == [], "it had no open transaction"
    second.sent()
    fake.commit.fail_next()
    outcome(fake.broker.transactions.coordinator.init_producer_id("tx", 1000, None))
    fake.run()
    assert fake.events.of("producer_fenced") == [], "it is open again"
    first.init()
    [event] = fake.events.of("producer_fenced")
    assert (event["transactional_id"], event["producer_id"]) == ("tx", second.producer.producer_id)
