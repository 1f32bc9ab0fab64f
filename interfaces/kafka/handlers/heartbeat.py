"""Heartbeat (key 12), versions 0-4.

3  static members (KIP-345)      4  flexible
"""

from __future__ import annotations

from domain.errors import BrokerError, RebalanceInProgress
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

#: A rebalance is no failure: this is how members learn of each.
EXPECTED = (RebalanceInProgress,)


def handle(request: HeartbeatRequest, call: Call) -> HeartbeatResponse | None:
    pending = call.broker.group_coordinator.heartbeat(
        request.group_id, request.member_id, request.group_instance_id, request.generation_id
    )
    if pending is None:
        return HeartbeatResponse()
    call.respond_later(pending, lambda told: _response(told, call))
    return None


def _response(told: BrokerError | None, call: Call) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=0 if told is None else call.code(told))
