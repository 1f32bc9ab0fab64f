"""UnregisterBroker (key 64), version 0 (KIP-500)."""

from __future__ import annotations

from domain.errors import StorageFailed
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)


def handle(request: UnregisterBrokerRequest, call: Call) -> None:
    def response(failure: StorageFailed | None) -> UnregisterBrokerResponse:
        if failure is None:
            return UnregisterBrokerResponse(error_message=None)
        return UnregisterBrokerResponse(
            error_code=call.code(failure), error_message=failure.message
        )

    call.respond_later(call.broker.cluster.unregister(request.broker_id), response)
