"""InitProducerId (key 22), versions 0-5.

 2  flexible        3  producer id and epoch of the client (KIP-360); without a transactional id
                       the client gets a new id, as in Kafka

There are no transactions: a transactional id is refused with 53.
"""

from __future__ import annotations

from application.ports.pending import Pending
from domain.errors import BrokerError, InvalidRequest
from domain.messages.batch import NO_PRODUCER_ID
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from interfaces.kafka.wire.schema import Response

NO_PRODUCER_EPOCH = -1

FAILED = {"producer_epoch": NO_PRODUCER_EPOCH}


def handle(request: InitProducerIdRequest, call: Call) -> Response | None:
    _check(request, call)
    producer_id = call.broker.messages.init_producer_id.new_producer_id()
    if isinstance(producer_id, Pending):
        call.respond_later(producer_id, lambda result: _response(request, result, call))
        return None
    return _response(request, producer_id, call)


def _check(request: InitProducerIdRequest, call: Call) -> None:
    if request.transactional_id == "":
        raise InvalidRequest("The transactional id is empty")
    if (request.producer_id == NO_PRODUCER_ID) != (request.producer_epoch == NO_PRODUCER_EPOCH):
        raise InvalidRequest("A producer id goes with an epoch")
    if request.transactional_id is not None:
        raise call.broker.messages.init_producer_id.refuse_transactional_id(
            request.transactional_id, call.peer.client
        )


def _response(
    request: InitProducerIdRequest, producer_id: int | BrokerError, call: Call
) -> Response:
    if isinstance(producer_id, BrokerError):
        return call.refused(request, producer_id)
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
