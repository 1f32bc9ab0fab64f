"""SyncGroup (key 14), versions 0-5.

3  static members (KIP-345)      4  flexible
5  protocol type and name (KIP-559), which are required

The response is sent when the leader has sent the assignment.
"""

from __future__ import annotations

from domain.errors import BrokerError, InconsistentGroupProtocol, RebalanceInProgress
from domain.groups.classic.changes import SyncResponse
from domain.groups.classic.sync import SyncRequest
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from interfaces.kafka.wire.schema import Response

FIRST_WITH_PROTOCOL = 5

EXPECTED = (RebalanceInProgress,)


def handle(request: SyncGroupRequest, call: Call) -> None:
    _check_protocol(request, call)
    pending = call.broker.groups.coordinator.sync_group(_sync_request(request))
    call.respond_later(pending, lambda result: _response(request, result, call))


def _check_protocol(request: SyncGroupRequest, call: Call) -> None:
    if call.version >= FIRST_WITH_PROTOCOL and None in (
        request.protocol_type,
        request.protocol_name,
    ):
        raise InconsistentGroupProtocol()


def _sync_request(request: SyncGroupRequest) -> SyncRequest:
    return SyncRequest(
        request.group_id,
        request.generation_id,
        request.member_id,
        request.group_instance_id,
        request.protocol_type,
        request.protocol_name,
        {one.member_id: bytes(one.assignment) for one in request.assignments},
    )


def _response(
    request: SyncGroupRequest, result: SyncResponse | BrokerError, call: Call
) -> Response:
    if isinstance(result, BrokerError):
        return call.refused(request, result)
    return SyncGroupResponse(
        error_code=0 if result.error is None else call.code(result.error),
        protocol_type=result.protocol_type,
        protocol_name=result.protocol_name,
        assignment=result.assignment,
    )
