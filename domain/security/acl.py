"""AclBinding: who may or may not do what, from where, on which resources. AclFilter: which of them.

A principal is in Kafka's notation, `User:alice`; `User:*` is everybody. A host is an IP address or
`*`. A literal resource name `*` is every resource of its type.
"""

from __future__ import annotations

from enum import Enum
from ipaddress import ip_address
from typing import NamedTuple

from domain.errors import InvalidRequest
from domain.security.access import CLUSTER_NAME, Operation, ResourceType

WILDCARD = "*"
EVERYBODY = "User:*"


class PatternType(Enum):
    """In the order of Kafka's codes, which start with 3."""

    LITERAL = "Literal"
    PREFIXED = "Prefixed"


class Permission(Enum):
    """In the order of Kafka's codes, which start with 2."""

    DENY = "Deny"
    ALLOW = "Allow"


class AclBinding(NamedTuple):
    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    principal: str
    host: str
    operation: Operation
    permission: Permission


class AclFilter(NamedTuple):
    """None matches everything."""

    resource_type: ResourceType | None = None
    resource_name: str | None = None
    pattern_type: PatternType | None = None
    principal: str | None = None
    host: str | None = None
    operation: Operation | None = None
    permission: Permission | None = None
    #: The name is that of a resource: it finds prefixes of it and `*`, too.
    matches_resources: bool = False

    def matches(self, binding: AclBinding) -> bool:
        return self._matches_name(binding) and all(
            value is None or value == one
            for value, one in (
                (self.resource_type, binding.resource_type),
                (self.pattern_type, binding.pattern_type),
                (self.principal, binding.principal),
                (self.host, binding.host),
                (self.operation, binding.operation),
                (self.permission, binding.permission),
            )
        )

    def _matches_name(self, binding: AclBinding) -> bool:
        name = self.resource_name
        if name is None or name == binding.resource_name:
            return True
        return self.matches_resources and covers(binding, name)


#: Kafka's numbers for them.
OPERATIONS: dict[int, Operation] = dict(enumerate(Operation, 2))
RESOURCE_TYPES: dict[int, ResourceType] = dict(enumerate(ResourceType, 2))
PATTERN_TYPES: dict[int, PatternType] = dict(enumerate(PatternType, 3))
PERMISSIONS: dict[int, Permission] = dict(enumerate(Permission, 2))
NUMBERS: dict[Enum, int] = {
    value: number
    for table in (OPERATIONS, RESOURCE_TYPES, PATTERN_TYPES, PERMISSIONS)
    for number, value in table.items()
}


def covers(binding: AclBinding, name: str) -> bool:
    """Whether the resources of the binding, of its type, include this one."""
    if binding.pattern_type is PatternType.PREFIXED:
        return name.startswith(binding.resource_name)
    return binding.resource_name in (name, WILDCARD)


def check_new(binding: AclBinding) -> None:
    """Raises InvalidRequest with Kafka's words."""
    if binding.resource_type is ResourceType.CLUSTER and binding.resource_name != CLUSTER_NAME:
        raise InvalidRequest(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if not binding.resource_name:
        raise InvalidRequest("Invalid empty resource name")
    if ":" not in binding.principal:
        raise InvalidRequest(
            f"Could not parse principal from `{binding.principal}` (no colon is present "
            "separating the principal type from the principal name)"
        )


def plain_host(host: str) -> str:
    """One notation of an IP address: Java writes IPv6 addresses without `::`."""
    if ":" not in host:
        return host
    try:
        return ip_address(host).compressed
    except ValueError:
        return host
