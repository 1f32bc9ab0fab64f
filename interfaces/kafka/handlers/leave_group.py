"""LeaveGroup (key 13), versions 0-5.

3  several members at once, static ones by their instance id alone (KIP-345)
4  flexible      5  reason (it goes nowhere)

Before version 3 the error of the one member is that of the whole answer.
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
    call.respond_later(pending, lambda told: _response(leaving, told, call))


def _response(
    leaving: list[LeavingMember], told: list[BrokerError | None] | BrokerError, call: Call
) -> LeaveGroupResponse:
    if isinstance(told, BrokerError):
        return LeaveGroupResponse(error_code=call.code(told))
    codes = [0 if error is None else call.code(error) for error in told]
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
