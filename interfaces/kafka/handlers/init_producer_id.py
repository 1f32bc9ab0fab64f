"""InitProducerId (key 22), versions 0-5.

 2  flexible        3  the client may name the id it has (KIP-360); without a transactional id it
                       is given a new one, as Kafka does

Not here: transactional ids; they are refused with 53 until transactions are built.
"""

from __future__ import annotations

from application.pending import Pending
from domain.errors import BrokerError, InvalidRequest
from domain.messages.batch import NO_PRODUCER_ID
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)

NO_PRODUCER_EPOCH = -1


def handle(request: InitProducerIdRequest, call: Call) -> InitProducerIdResponse | None:
    refused = _refusal(request, call)
    if refused is not None:
        return _response(refused, call)
    producer_id = call.broker.init_producer_id.new_producer_id()
    if isinstance(producer_id, Pending):
        call.respond_later(producer_id, lambda given: _response(given, call))
        return None
    return _response(producer_id, call)


def _refusal(request: InitProducerIdRequest, call: Call) -> BrokerError | None:
    if request.transactional_id == "":
        return InvalidRequest("The transactional id is empty")
    if (request.producer_id == NO_PRODUCER_ID) != (request.producer_epoch == NO_PRODUCER_EPOCH):
        return InvalidRequest("A producer id goes with an epoch")
    if request.transactional_id is not None:
        return call.broker.init_producer_id.refuse_transactional_id(
            request.transactional_id, call.peer.client
        )
    return None


def _response(producer_id: int | BrokerError, call: Call) -> InitProducerIdResponse:
    if isinstance(producer_id, BrokerError):
        return failed(None, call, call.code(producer_id))
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


def failed(request: InitProducerIdRequest | None, call: Call, code: int) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_epoch=NO_PRODUCER_EPOCH)
