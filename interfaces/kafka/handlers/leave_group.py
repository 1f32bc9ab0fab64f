"""LeaveGroup (key 13), versions 0-5.

3  several members, static members by instance id alone (KIP-345)
4  flexible      5  reason (KIP-800, not used)

Before version 3 the error of the one member is the top-level error.
"""

from __future__ import annotations

from domain.errors import BrokerError
from domain.groups.classic.leave import LeavingMember
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberResponse,
)

FIRST_WITH_SEVERAL = 3


def handle(request: LeaveGroupRequest, call: Call) -> None:
    leaving = [LeavingMember(one.member_id, one.group_instance_id) for one in request.members]
    if call.version < FIRST_WITH_SEVERAL:
        leaving = [LeavingMember(request.member_id, None)]
    pending = call.broker.groups.coordinator.leave_group(request.group_id, leaving)
    call.respond_later(pending, lambda results: _response(leaving, results, call))


def _response(
    leaving: list[LeavingMember], results: list[BrokerError | None] | BrokerError, call: Call
) -> LeaveGroupResponse:
    if isinstance(results, BrokerError):
        return LeaveGroupResponse(error_code=call.code(results))
    codes = [0 if error is None else call.code(error) for error in results]
    if call.version < FIRST_WITH_SEVERAL:
        return LeaveGroupResponse(error_code=codes[0])
    return LeaveGroupResponse(
        members=[
            MemberResponse(
                member_id=one.member_id, group_instance_id=one.instance_id, error_code=code
            )
            for one, code in zip(leaving, codes, strict=True)
        ]
    )
