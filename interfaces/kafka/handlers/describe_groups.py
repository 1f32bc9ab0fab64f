"""DescribeGroups (key 15), versions 0-6.

3  authorized operations (KIP-430)      4  static members (KIP-345)      5  flexible
6  a group that is not there is an error (KIP-1043); before, it is Dead and no error

Groups of the consumer protocol have an API of their own, and are not there for this one.
"""

from __future__ import annotations

from application.groups.describe import DescribedGroup as Description
from application.groups.describe import describe
from domain.errors import BrokerError
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
    call.broker.offsets.check_loaded()
    return DescribeGroupsResponse(
        groups=[
            _group(group_id, describe(call.broker.groups, group_id), request, call)
            for group_id in request.groups
        ]
    )


def _group(
    group_id: str, found: Description | BrokerError, request: DescribeGroupsRequest, call: Call
) -> DescribedGroup:
    operations = group_operations(request.include_authorized_operations)
    if isinstance(found, BrokerError):
        if call.version < FIRST_WITH_NOT_FOUND:
            return DescribedGroup(
                group_id=group_id, group_state=DEAD, authorized_operations=operations
            )
        other_kind = call.broker.groups.find(group_id) is not None
        return DescribedGroup(
            error_code=CODES[type(found)] if other_kind else call.code(found),
            error_message=found.message,
            group_id=group_id,
            group_state=DEAD,
        )
    return DescribedGroup(
        group_id=group_id,
        group_state=found.state,
        protocol_type=found.protocol_type,
        protocol_data=found.protocol_name,
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata,
                member_assignment=member.assignment,
            )
            for member in found.members
        ],
        authorized_operations=operations,
    )
