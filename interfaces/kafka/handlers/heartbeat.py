"""Heartbeat (key 12), versions 0-4.

3  static members (KIP-345)      4  flexible
"""

from __future__ import annotations

from domain.errors import BrokerError, RebalanceInProgress
from interfaces.kafka.handlers.shared.group_member import code_of
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


def handle(request: HeartbeatRequest, call: Call) -> HeartbeatResponse | None:
    try:
        pending = call.broker.group_coordinator.heartbeat(
            request.group_id,
            request.member_id,
            request.group_instance_id,
            request.generation_id,
        )
    except BrokerError as refused:
        return failed(request, call, call.code(refused))
    if pending is None:
        return HeartbeatResponse()
    call.respond_later(pending, lambda told: _response(told, call))
    return None


def _response(told: BrokerError | None, call: Call) -> HeartbeatResponse:
    """A rebalance is nothing wrong: this is how members learn of each."""
    return HeartbeatResponse(error_code=code_of(told, call, RebalanceInProgress))


def failed(request: HeartbeatRequest, call: Call, code: int) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=code)
