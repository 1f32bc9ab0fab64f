"""ListGroups (key 16), versions 0-5.

3  flexible      4  filter by state (KIP-518)      5  filter by type (KIP-848)

Groups without members that have committed offsets are listed too.
"""

from __future__ import annotations

from domain.security.access import CLUSTER_NAME, Operation, ResourceType
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.list_groups import (
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
)


def handle(request: ListGroupsRequest, call: Call) -> ListGroupsResponse:
    call.broker.groups.coordinators.check_to_list()
    sees_all = call.allows(Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME)
    groups = call.broker.groups.coordinator.list_groups(request.states_filter, request.types_filter)
    return ListGroupsResponse(
        groups=[
            ListedGroup(
                group_id=group.group_id,
                protocol_type=group.protocol_type,
                group_state=group.state_name,
                group_type=group.kind.value,
            )
            for group in groups
            if sees_all or call.allows(Operation.DESCRIBE, ResourceType.GROUP, group.group_id)
        ]
    )
