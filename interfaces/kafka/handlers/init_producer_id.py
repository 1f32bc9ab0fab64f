"""InitProducerId (key 22), versions 0-5.

 2  flexible        3  producer id and epoch of the client (KIP-360); without a transactional id
                       the client gets a new id, as in Kafka
 4  PRODUCER_FENCED (KIP-588)        5  TRANSACTION_ABORTABLE (KIP-890; not used)

An open transaction of an earlier producer is aborted first. If that takes more than 100 ms, the
client gets CONCURRENT_TRANSACTIONS and retries; Kafka always responds so.
"""

from __future__ import annotations

from application.ports.pending import Pending
from domain.errors import (
    ClusterAuthorizationFailed,
    ConcurrentTransactions,
    CoordinatorLoadInProgress,
    InvalidRequest,
    StorageFailed,
)
from domain.messages.batch import NO_PRODUCER_ID
from domain.security.access import CLUSTER_NAME, Operation, ResourceType
from domain.transactions.transaction import NO_EPOCH, ProducerIdAndEpoch
from interfaces.kafka.handlers.shared.transactions import respond_when_decided
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from interfaces.kafka.wire.schema import Response

FIRST_WITH_FENCED = 4

FAILED = {"producer_epoch": NO_EPOCH}
EXPECTED = (ConcurrentTransactions,)


def handle(request: InitProducerIdRequest, call: Call) -> Response | None:
    transactional_id = request.transactional_id
    if transactional_id == "":
        raise InvalidRequest("The transactional id is empty")
    expected = ProducerIdAndEpoch(request.producer_id, request.producer_epoch)
    if (expected.producer_id == NO_PRODUCER_ID) != (expected.epoch == NO_EPOCH):
        raise InvalidRequest("A producer id goes with an epoch")
    if transactional_id is None:
        if not call.requires(Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, CLUSTER_NAME):
            raise ClusterAuthorizationFailed()
        return _idempotent(request, call)
    respond_when_decided(
        request,
        call,
        FIRST_WITH_FENCED,
        transactional_id,
        lambda: call.broker.transactions.coordinator.init_producer_id(
            transactional_id,
            request.transaction_timeout_ms,
            None if expected.epoch == NO_EPOCH else expected,
        ),
        lambda producer: InitProducerIdResponse(
            producer_id=producer.producer_id, producer_epoch=producer.epoch
        ),
    )
    return None


def _idempotent(request: InitProducerIdRequest, call: Call) -> Response | None:
    producer_id = call.broker.messages.init_producer_id.new_producer_id()
    if isinstance(producer_id, Pending):
        call.respond_later(producer_id, lambda result: _response(request, result, call))
        return None
    return _response(request, producer_id, call)


def _response(
    request: InitProducerIdRequest, producer_id: int | StorageFailed, call: Call
) -> Response:
    if isinstance(producer_id, StorageFailed):
        # As Kafka without a block of ids: clients repeat it with any broker.
        return call.refused(request, CoordinatorLoadInProgress(producer_id.message))
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
