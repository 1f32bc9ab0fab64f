"""Authorized operations of a resource: a bit for each operation (KIP-430)."""

from __future__ import annotations

from domain.security.access import CLUSTER_NAME, Operation, ResourceType
from domain.security.acl import OPERATIONS
from interfaces.kafka.requests.call import Call

#: The numbers of the operations that a resource type has.
_SUPPORTED = {
    ResourceType.TOPIC: (3, 4, 5, 6, 7, 8, 10, 11),
    ResourceType.CLUSTER: (5, 7, 8, 9, 10, 11, 12),
    ResourceType.GROUP: (3, 6, 8, 10, 11),
}
NOT_REQUESTED = -(2**31)


def may_describe(topic_name: str, call: Call) -> bool:
    return call.allows(Operation.DESCRIBE, ResourceType.TOPIC, topic_name)


def topic_operations(name: str, requested: bool, call: Call) -> int:
    return _operations(ResourceType.TOPIC, name, call) if requested else NOT_REQUESTED


def group_operations(group_id: str, requested: bool, call: Call) -> int:
    return _operations(ResourceType.GROUP, group_id, call) if requested else NOT_REQUESTED


def cluster_operations(requested: bool, call: Call) -> int:
    if not requested:
        return NOT_REQUESTED
    if not call.allows(Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
        return 0
    return _operations(ResourceType.CLUSTER, CLUSTER_NAME, call)


def _operations(resource_type: ResourceType, name: str, call: Call) -> int:
    supported = _SUPPORTED[resource_type]
    allows, peer = call.broker.authorizer.allows, call.peer
    return sum(
        1 << number
        for number, operation in OPERATIONS.items()
        if number in supported
        and allows(peer.principal, peer.address, operation, resource_type, name)
    )
