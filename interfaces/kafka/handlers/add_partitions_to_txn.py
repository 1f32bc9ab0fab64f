"""AddPartitionsToTxn (key 24), versions 0-5 (KIP-98).

 2  PRODUCER_FENCED (KIP-588)        3  flexible
 4  several transactions, and verification: for brokers, with ClusterAction (KIP-890)
 5  TRANSACTION_ABORTABLE (brokers get it in version 4, too)

All partitions are added, or none: one that cannot be added fails the others with
OPERATION_NOT_ATTEMPTED.
"""

from __future__ import annotations

from collections.abc import Callable

from application.ports.pending import Pending, all_of
from domain.errors import (
    BrokerError,
    ClusterAuthorizationFailed,
    ConcurrentTransactions,
    InvalidRequest,
    OperationNotAttempted,
    TopicAuthorizationFailed,
    TransactionAbortable,
    UnknownTopicOrPartition,
)
from domain.security.access import CLUSTER_NAME, Operation, ResourceType
from domain.transactions.transaction import ProducerIdAndEpoch, TopicPartition
from interfaces.kafka.handlers.shared.transactions import respond_when_decided
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)

FIRST_WITH_FENCED = 2
FIRST_WITH_SEVERAL = 4

EXPECTED = (ConcurrentTransactions,)

#: The code of each partition.
CodeOf = Callable[[TopicPartition], int]


def handle(request: AddPartitionsToTxnRequest, call: Call) -> AddPartitionsToTxnResponse | None:
    if call.version >= FIRST_WITH_SEVERAL:
        return _several(request, call)
    transactional_id = request.v3_and_below_transactional_id
    topics = request.v3_and_below_topics
    call.broker.transactions.coordinators.check_to_serve(transactional_id)
    refused = _refused(topics, call)
    if refused:
        not_attempted = call.code(OperationNotAttempted())
        return _response(topics, lambda at: refused.get(at, not_attempted))
    if not transactional_id:
        raise InvalidRequest("The transactional id is empty")
    respond_when_decided(
        request,
        call,
        FIRST_WITH_FENCED,
        transactional_id,
        lambda: call.broker.transactions.coordinator.add_partitions(
            transactional_id,
            ProducerIdAndEpoch(
                request.v3_and_below_producer_id, request.v3_and_below_producer_epoch
            ),
            _partitions(topics),
        ),
        lambda _: _response(topics, lambda at: 0),
    )
    return None


def failed(
    request: AddPartitionsToTxnRequest, code: int, message: str | None, version: int
) -> AddPartitionsToTxnResponse:
    if version >= FIRST_WITH_SEVERAL:
        return AddPartitionsToTxnResponse(error_code=code)
    return _response(request.v3_and_below_topics, lambda at: code)


def _response(topics: list[AddPartitionsToTxnTopic], code_of: CodeOf) -> AddPartitionsToTxnResponse:
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_results(topics, code_of))


def _results(
    topics: list[AddPartitionsToTxnTopic], code_of: CodeOf
) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=index, partition_error_code=code_of((topic.name, index))
                )
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]


def _partitions(topics: list[AddPartitionsToTxnTopic]) -> list[TopicPartition]:
    return [(topic.name, index) for topic in topics for index in topic.partitions]


def _refused(topics: list[AddPartitionsToTxnTopic], call: Call) -> dict[TopicPartition, int]:
    """The codes of partitions that cannot be in any transaction."""
    refused = {}
    for name, index in _partitions(topics):
        topic = call.broker.catalog.topic(name)
        if call.version < FIRST_WITH_SEVERAL and not call.requires(
            Operation.WRITE, ResourceType.TOPIC, name
        ):
            refused[name, index] = call.code(TopicAuthorizationFailed())
        elif topic is None or not 0 <= index < len(topic.partition_ids):
            refused[name, index] = call.code(UnknownTopicOrPartition())
        elif topic.is_internal and call.version < FIRST_WITH_SEVERAL:
            refused[name, index] = call.code(TopicAuthorizationFailed())
    return refused


def _several(request: AddPartitionsToTxnRequest, call: Call) -> AddPartitionsToTxnResponse | None:
    if not call.requires(Operation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME):
        raise ClusterAuthorizationFailed()
    response = AddPartitionsToTxnResponse()
    waiting: list[Pending[None]] = []
    for transaction in request.transactions:
        result = AddPartitionsToTxnResult(transactional_id=transaction.transactional_id)
        response.results_by_transaction.append(result)
        waiting.append(_one(transaction, result, call))
    if not waiting:
        return response
    call.respond_later(all_of(waiting), lambda _: response)
    return None


def _one(
    transaction: AddPartitionsToTxnTransaction, result: AddPartitionsToTxnResult, call: Call
) -> Pending[None]:
    """Resolved when `result` is complete."""
    topics = transaction.topics
    complete: Pending[None] = Pending()

    def done(error: BrokerError | None) -> None:
        code = 0 if error is None else call.code(error)
        result.topic_results = _results(topics, lambda at: code)
        complete.resolve(None)

    refused = _refused(topics, call)
    if refused:
        not_attempted = call.code(OperationNotAttempted())
        result.topic_results = _results(topics, lambda at: refused.get(at, not_attempted))
        complete.resolve(None)
        return complete
    coordinator = call.broker.transactions.coordinator
    producer = ProducerIdAndEpoch(transaction.producer_id, transaction.producer_epoch)
    try:
        if not transaction.transactional_id:
            raise InvalidRequest()
        if not transaction.verify_only:
            coordinator.add_partitions(
                transaction.transactional_id, producer, _partitions(topics)
            ).then(done)
            return complete

        def verified(at: TopicPartition) -> int:
            try:
                coordinator.verify_partition(transaction.transactional_id, producer, at)
            except TransactionAbortable as missing:
                return call.code(missing)
            return 0

        result.topic_results = _results(topics, verified)
        complete.resolve(None)
    except BrokerError as error:
        done(error)
    return complete
