"""Transactions over several brokers: deleted topics, and requests that are refused."""

from __future__ import annotations

from domain.transactions.transaction import ProducerIdAndEpoch
from tests.fakes.cluster_producer import ClusterProducer, ask
from tests.fakes.results import error_codes
from tests.fakes.shared_store import SharedStore
from tests.unit.application.transactions.three_brokers import begun, led_by, markers, requested

INVALID_PRODUCER_ID_MAPPING = 49


def end_without_topic(shared: SharedStore, producer: ClusterProducer) -> None:
    """Broker 2 dies before it writes its marker, and the topic is deleted."""
    shared.brokers[2].commit.hold()
    assert producer.end() == 0
    shared.kill(2)
    coordinator = producer.coordinator
    coordinator.changes.check()
    coordinator.broker.topics.delete_topics.delete([coordinator.existing()])


def test_a_deleted_topic_does_not_hold_up_the_end(
    shared: SharedStore, producer: ClusterProducer
) -> None:
    begun(producer)
    end_without_topic(shared, producer)
    shared.advance(3000)
    assert (producer.state, requested(shared)) == ("CompleteCommit", 0)


def test_a_request_with_batches_of_several_producers_is_refused(
    shared: SharedStore, producer: ClusterProducer
) -> None:
    """Its leader would read the transaction for each, again and again."""
    begun(producer)
    [index] = led_by(producer, 2)
    request = producer.produce_request(index)
    for number in range(10):
        producer.producer = ProducerIdAndEpoch(1000 + number, 0)
        request.topic_data += producer.produce_request(index).topic_data
    assert error_codes(ask(shared.brokers[2], request, 9)) == {INVALID_PRODUCER_ID_MAPPING}


def test_a_topic_that_was_created_again_gets_the_markers_that_are_left(
    shared: SharedStore, producer: ClusterProducer
) -> None:
    """Its leader may have admitted batches before the coordinator knew it."""
    begun(producer)
    [left] = led_by(producer, 2)
    end_without_topic(shared, producer)
    shared.run()
    shared.topic("t", 3)
    shared.fence(2)
    shared.advance(3000)
    assert [markers(shared, index) for index in range(3)] == [index == left for index in range(3)]
    assert (producer.state, requested(shared)) == ("CompleteCommit", 0)
