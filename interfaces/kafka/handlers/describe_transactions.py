"""DescribeTransactions (key 65), version 0 (KIP-664).

Groups with offsets in the transaction are shown as their partitions of __consumer_offsets, as in
Kafka.
"""

from __future__ import annotations

from domain.errors import BrokerError, InvalidRequest, TransactionalIdNotFound
from domain.security.access import Operation, ResourceType
from domain.transactions.state_record import places_of
from domain.transactions.transaction import Transaction
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)


def handle(request: DescribeTransactionsRequest, call: Call) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[_state(one, call) for one in request.transactional_ids]
    )


def _state(transactional_id: str, call: Call) -> TransactionState:
    try:
        found = _existing(transactional_id, call)
    except BrokerError as error:
        return TransactionState(error_code=call.code(error), transactional_id=transactional_id)
    return TransactionState(
        transactional_id=transactional_id,
        transaction_state=found.state.value,
        transaction_timeout_ms=found.timeout_ms,
        transaction_start_time_ms=found.started_ms,
        producer_id=found.producer_id,
        producer_epoch=found.epoch,
        topics=[
            topic
            for topic in _topics(found, call.broker.catalog.offsets_partitions)
            if call.allows(Operation.DESCRIBE, ResourceType.TOPIC, topic.topic)
        ],
    )


def _existing(transactional_id: str, call: Call) -> Transaction:
    if not transactional_id:
        raise InvalidRequest()
    registry = call.broker.transactions.registry
    registry.check_here(transactional_id)
    found = registry.find(transactional_id)
    if found is None:
        raise TransactionalIdNotFound()
    return found


def _topics(transaction: Transaction, offsets_partitions: int) -> list[TopicData]:
    topics: dict[str, TopicData] = {}
    for name, index in places_of(transaction, offsets_partitions):
        topics.setdefault(name, TopicData(topic=name)).partitions.append(index)
    return list(topics.values())
