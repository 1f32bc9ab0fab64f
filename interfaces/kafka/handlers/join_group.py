"""JoinGroup (key 11), versions 0-9.

1  rebalance timeout; before, it is the session timeout (KIP-62)
4  a new member is given its id and joins again with it (KIP-394)
5  static members (KIP-345)                 6  flexible
7  protocol type; no protocol is null       8  reason (it goes nowhere)
9  a leader may be told to leave the assignment as it is (KIP-814)

The answer comes when all members have joined, or their time is over.
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

#: How a new member is given its id.
EXPECTED = (MemberIdRequired,)
FAILED = {"protocol_name": None, "member_id": attrgetter("member_id")}


def handle(request: JoinGroupRequest, call: Call) -> None:
    pending = call.broker.group_coordinator.join_group(_join_request(request, call))
    call.respond_later(pending, lambda answer: _response(request, answer, call))


def _join_request(request: JoinGroupRequest, call: Call) -> JoinRequest:
    version = call.version
    in_time_ms = request.rebalance_timeout_ms
    if version < FIRST_WITH_REBALANCE_TIMEOUT:
        in_time_ms = request.session_timeout_ms
    return JoinRequest(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        call.peer.client.client_id or "",
        client_host(call),
        request.session_timeout_ms,
        in_time_ms,
        request.protocol_type,
        _protocols(request.protocols),
        version >= FIRST_TO_JOIN_TWICE,
        version >= FIRST_TO_SKIP_ASSIGNMENT,
    )


def _protocols(protocols: list[JoinGroupRequestProtocol]) -> Protocols:
    """Each name once."""
    named = {one.name: bytes(one.metadata) for one in reversed(protocols)}
    return tuple(reversed(named.items()))


def _response(
    request: JoinGroupRequest, answer: JoinResponse | BrokerError, call: Call
) -> Response:
    if isinstance(answer, BrokerError):
        return call.refused(request, answer)
    return JoinGroupResponse(
        error_code=0 if answer.error is None else call.code(answer.error),
        generation_id=answer.generation_id,
        protocol_type=answer.protocol_type,
        protocol_name=_or_null(answer.protocol_name, call),
        leader=answer.leader,
        skip_assignment=answer.skip_assignment,
        member_id=answer.member_id,
        members=[
            JoinGroupResponseMember(
                member_id=member_id, group_instance_id=instance_id, metadata=metadata
            )
            for member_id, instance_id, metadata in answer.members
        ],
    )


def _or_null(protocol_name: str | None, call: Call) -> str | None:
    return "" if protocol_name is None and call.version < FIRST_WITH_NO_PROTOCOL else protocol_name
