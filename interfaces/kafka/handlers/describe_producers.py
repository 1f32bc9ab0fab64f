"""DescribeProducers (key 61), version 0 (KIP-664)."""

from __future__ import annotations

from collections.abc import Iterator

from application.partitions.describe_producers import ActiveProducer, Described
from domain.errors import BrokerError
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)

#: Kafka's message for a resource without the right.
NOT_AUTHORIZED = "{} authorization failed."


def handle(request: DescribeProducersRequest, call: Call) -> None:
    call.topics = len(request.topics)
    places = [(topic.name, index) for topic in request.topics for index in topic.partition_indexes]
    call.respond_later(
        call.broker.messages.describe_producers.describe(places),
        lambda found: _response(request, iter(found), call),
    )


def _response(
    request: DescribeProducersRequest, found: Iterator[Described], call: Call
) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                name=topic.name,
                partitions=[
                    _partition(index, next(found), call) for index in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
    )


def _partition(index: int, found: Described, call: Call) -> PartitionResponse:
    if isinstance(found, BrokerError):
        return PartitionResponse(
            partition_index=index,
            error_code=call.code(found),
            error_message=found.message or None,
        )
    return PartitionResponse(
        partition_index=index, active_producers=[_producer(one) for one in found]
    )


def _producer(one: ActiveProducer) -> ProducerState:
    return ProducerState(
        producer_id=one.producer_id,
        producer_epoch=one.epoch,
        last_sequence=one.last_sequence,
        last_timestamp=one.last_timestamp,
        coordinator_epoch=one.coordinator_epoch,
        current_txn_start_offset=one.first_offset,
    )
