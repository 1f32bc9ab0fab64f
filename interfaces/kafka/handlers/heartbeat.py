"""Heartbeat (key 12), versions 0-4.

3  static members (KIP-345)      4  flexible
"""

from __future__ import annotations

from domain.errors import BrokerError, RebalanceInProgress
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

#: Not a failure: members learn of a rebalance by this error.
EXPECTED = (RebalanceInProgress,)


def handle(request: HeartbeatRequest, call: Call) -> HeartbeatResponse | None:
    pending = call.broker.groups.coordinator.heartbeat(
        request.group_id, request.member_id, request.group_instance_id, request.generation_id
    )
    if pending is None:
        return HeartbeatResponse()
    call.respond_later(pending, lambda error: _response(error, call))
    return None


def _response(error: BrokerError | None, call: Call) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=0 if error is None else call.code(error))
