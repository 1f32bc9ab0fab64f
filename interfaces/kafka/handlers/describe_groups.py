"""DescribeGroups (key 15), versions 0-6.

3  authorized operations (KIP-430)      4  static members (KIP-345)      5  flexible
6  an unknown group is error 69 (KIP-1043); before, it is Dead without an error

Groups of the consumer protocol are unknown here; they have ConsumerGroupDescribe.
"""

from __future__ import annotations

from domain.errors import CoordinatorNotAvailable, GroupIdNotFound, NotCoordinator
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.states import State
from interfaces.kafka.handlers.shared.authorized_operations import group_operations
from interfaces.kafka.requests.call import Call
from interfaces.kafka.requests.error_codes import CODES
from interfaces.kafka.wire.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

FIRST_WITH_NOT_FOUND = 6
DEAD = "Dead"


def handle(request: DescribeGroupsRequest, call: Call) -> DescribeGroupsResponse:
    call.broker.groups.offsets.check_loaded()
    return DescribeGroupsResponse(
        groups=[_group(group_id, request, call) for group_id in request.groups]
    )


def _group(group_id: str, request: DescribeGroupsRequest, call: Call) -> DescribedGroup:
    operations = group_operations(group_id, request.include_authorized_operations, call)
    found = call.broker.groups.registry.find(group_id)
    try:
        call.broker.groups.offsets.check_coordinated(group_id)
        group = ClassicGroup.existing(found, group_id)
    except (NotCoordinator, CoordinatorNotAvailable) as elsewhere:
        return DescribedGroup(error_code=call.code(elsewhere), group_id=group_id)
    except GroupIdNotFound as refused:
        if call.version < FIRST_WITH_NOT_FOUND:
            return DescribedGroup(
                group_id=group_id, group_state=DEAD, authorized_operations=operations
            )
        return DescribedGroup(
            error_code=call.code(refused) if found is None else CODES[type(refused)],
            error_message=refused.message,
            group_id=group_id,
            group_state=DEAD,
        )
    # Kafka shows member metadata only in state Stable: before, the protocol may change.
    name = (group.protocol_name or "") if group.state is State.STABLE else None
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        protocol_type=group.protocol_type,
        protocol_data=name or "",
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata(name),
                member_assignment=member.assignment,
            )
            for member in group.members.values()
        ],
        authorized_operations=operations,
    )
