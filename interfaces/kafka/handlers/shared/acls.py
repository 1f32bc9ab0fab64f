"""Numbers on the wire for ACLs and filters of ACLs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Protocol, TypeVar

from domain.errors import InvalidRequest
from domain.security.acl import (
    NUMBERS,
    OPERATIONS,
    PATTERN_TYPES,
    PERMISSIONS,
    RESOURCE_TYPES,
    AclBinding,
    AclFilter,
)
from interfaces.kafka.requests.call import CloseConnection

UNKNOWN = 0
#: Matches everything; in a filter only.
ANY = 1
#: Of a pattern type in a filter: all patterns that include the resource with this name.
MATCH = 2

E = TypeVar("E", bound=Enum)


class WireFilter(Protocol):
    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: int
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int


def filter_of(requested: WireFilter) -> AclFilter:
    """Raises InvalidRequest, with Kafka's words, for numbers that are not known."""
    pattern = requested.pattern_type_filter
    is_match = pattern == MATCH
    resource_type = _known(RESOURCE_TYPES, requested.resource_type_filter, "patternFilter")
    pattern_type = None if is_match else _known(PATTERN_TYPES, pattern, "patternFilter")
    return AclFilter(
        resource_type,
        requested.resource_name_filter,
        pattern_type,
        requested.principal_filter,
        requested.host_filter,
        _known(OPERATIONS, requested.operation, "entryFilter"),
        _known(PERMISSIONS, requested.permission_type, "entryFilter"),
        is_match,
    )


def _known(table: Mapping[int, E], number: int, part: str) -> E | None:
    if number == ANY:
        return None
    check_not_unknown(number)
    if number not in table:
        raise InvalidRequest(f"Unknown {part}.")
    return table[number]


def check_not_unknown(number: int) -> None:
    """Kafka closes the connection that sends its number for unknown values."""
    if number == UNKNOWN:
        raise CloseConnection("malformed_request", "an ACL with the number of unknown values")


def entry(binding: AclBinding) -> dict[str, Any]:
    """The fields of a binding beside its resource."""
    return {
        "principal": binding.principal,
        "host": binding.host,
        "operation": NUMBERS[binding.operation],
        "permission_type": NUMBERS[binding.permission],
    }
