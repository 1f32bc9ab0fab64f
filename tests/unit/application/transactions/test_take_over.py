from __future__ import annotations

import pytest

from application.ports.pending import Pending
from application.transactions.take_over import LONGEST_WAIT_MS
from domain.errors import (
    BrokerError,
    ConcurrentTransactions,
    CoordinatorNotAvailable,
)
from domain.topics.topic import TRANSACTION_TOPIC
from domain.transactions.transaction import ProducerIdAndEpoch
from tests.fakes.cluster_producer import ClusterProducer, begun_on_two_brokers
from tests.fakes.results import results_of


@pytest.fixture
def producer() -> ClusterProducer:
    return begun_on_two_brokers()


def taken_over(producer: ClusterProducer) -> Pending[ProducerIdAndEpoch | BrokerError]:
    return producer.coordinator.broker.transactions.take_over.run("tx", 60_000)


def test_the_next_producer_begins_when_other_brokers_have_written_their_markers(
    producer: ClusterProducer,
) -> None:
    shared, (producer_id, epoch) = producer.shared, producer.producer
    shared.brokers[2].commit.hold()
    pending = taken_over(producer)
    shared.run()
    assert not pending.resolved
    assert producer.state == "PrepareAbort"
    shared.brokers[2].commit.let_go()
    shared.run()
    assert results_of(pending) == [(producer_id, epoch + 2)]
    assert producer.state == "Empty"


def test_markers_are_not_awaited_without_end(producer: ClusterProducer) -> None:
    shared = producer.shared
    shared.brokers[2].commit.hold()
    pending = taken_over(producer)
    shared.advance(LONGEST_WAIT_MS + 1000, step_ms=1000)
    [refused] = results_of(pending)
    assert isinstance(refused, ConcurrentTransactions)
    shared.brokers[2].commit.let_go()
    shared.run()
    assert producer.state == "CompleteAbort"


def test_an_abort_that_is_lost_is_refused(producer: ClusterProducer) -> None:
    producer.coordinator.commit.fail_next()
    pending = taken_over(producer)
    producer.shared.run()
    [refused] = results_of(pending)
    assert isinstance(refused, CoordinatorNotAvailable)
    assert producer.state == "Ongoing"


def test_a_move_of_the_coordinator_ends_the_wait(
    producer: ClusterProducer,
) -> None:
    shared, coordinator = producer.shared, producer.coordinator
    shared.brokers[2].commit.hold()
    pending = taken_over(producer)
    shared.run()
    coordinator.broker.topics.replicas.reassign([((TRANSACTION_TOPIC, 0), [2])])
    shared.run()
    shared.brokers[2].commit.let_go()
    shared.run()
    [refused] = results_of(pending)
    assert isinstance(refused, CoordinatorNotAvailable)
    shared.advance(2000)
    assert producer.coordinator is shared.brokers[2]
    assert producer.state == "CompleteAbort"
