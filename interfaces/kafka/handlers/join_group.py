"""JoinGroup (key 11), versions 0-9.

1  rebalance timeout (KIP-62); before, the session timeout is used
4  a new member gets its id by MEMBER_ID_REQUIRED and joins again with it (KIP-394)
5  static members (KIP-345)                 6  flexible
7  protocol type (KIP-559); the protocol name may be null
8  reason (KIP-800, not used)               9  the leader may skip the assignment (KIP-814)

The response is sent when all members have joined, or after the rebalance timeout.
"""

from __future__ import annotations

from operator import attrgetter

from domain.errors import BrokerError, MemberIdRequired
from domain.groups.classic.changes import JoinResponse
from domain.groups.classic.member import JoinRequest, Protocols
from interfaces.kafka.handlers.shared.group_member import client_host
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from interfaces.kafka.wire.schema import Response

FIRST_WITH_REBALANCE_TIMEOUT = 1
FIRST_TO_JOIN_TWICE = 4
FIRST_WITH_NO_PROTOCOL = 7
FIRST_TO_SKIP_ASSIGNMENT = 9

#: Not a failure: a new member gets its id by this error.
EXPECTED = (MemberIdRequired,)
FAILED = {"protocol_name": None, "member_id": attrgetter("member_id")}


def handle(request: JoinGroupRequest, call: Call) -> None:
    pending = call.broker.groups.coordinator.join_group(_join_request(request, call))
    call.respond_later(pending, lambda result: _response(request, result, call))


def _join_request(request: JoinGroupRequest, call: Call) -> JoinRequest:
    version = call.version
    rebalance_timeout_ms = request.rebalance_timeout_ms
    if version < FIRST_WITH_REBALANCE_TIMEOUT:
        rebalance_timeout_ms = request.session_timeout_ms
    return JoinRequest(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        call.peer.client.client_id or "",
        client_host(call),
        request.session_timeout_ms,
        rebalance_timeout_ms,
        request.protocol_type,
        _protocols(request.protocols),
        version >= FIRST_TO_JOIN_TWICE,
        version >= FIRST_TO_SKIP_ASSIGNMENT,
    )


def _protocols(protocols: list[JoinGroupRequestProtocol]) -> Protocols:
    """Duplicate names are dropped; the first counts."""
    named = {one.name: bytes(one.metadata) for one in reversed(protocols)}
    return tuple(reversed(named.items()))


def _response(
    request: JoinGroupRequest, result: JoinResponse | BrokerError, call: Call
) -> Response:
    if isinstance(result, BrokerError):
        return call.refused(request, result)
    return JoinGroupResponse(
        error_code=0 if result.error is None else call.code(result.error),
        generation_id=result.generation_id,
        protocol_type=result.protocol_type,
        protocol_name=_or_null(result.protocol_name, call),
        leader=result.leader,
        skip_assignment=result.skip_assignment,
        member_id=result.member_id,
        members=[
            JoinGroupResponseMember(
                member_id=member_id, group_instance_id=instance_id, metadata=metadata
            )
            for member_id, instance_id, metadata in result.members
        ],
    )


def _or_null(protocol_name: str | None, call: Call) -> str | None:
    return "" if protocol_name is None and call.version < FIRST_WITH_NO_PROTOCOL else protocol_name
