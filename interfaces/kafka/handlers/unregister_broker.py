"""UnregisterBroker (key 64), version 0 (KIP-500)."""

from __future__ import annotations

from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)


def handle(request: UnregisterBrokerRequest, call: Call) -> UnregisterBrokerResponse:
    call.broker.cluster.unregister(request.broker_id)
    return UnregisterBrokerResponse(error_message=None)
