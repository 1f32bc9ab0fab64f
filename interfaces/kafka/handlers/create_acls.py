"""CreateAcls (key 30), versions 1-3.

1  prefixed resource names (KIP-290)      2  flexible      3  users as resources (KIP-373)

An ACL that exists already is created again without an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from domain.errors import BrokerError, InvalidRequest, SecurityDisabled
from domain.security.acl import (
    OPERATIONS,
    PATTERN_TYPES,
    PERMISSIONS,
    RESOURCE_TYPES,
    AclBinding,
)
from interfaces.kafka.handlers.shared.acls import ANY, MATCH, check_not_unknown
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.create_acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)

EXPECTED = (SecurityDisabled,)

T = TypeVar("T")


def handle(request: CreateAclsRequest, call: Call) -> None:
    acls = call.broker.security.acls
    if acls is None:
        raise SecurityDisabled("No Authorizer is configured.")
    bindings = [_binding(one) for one in request.creations]

    def response(results: list[BrokerError | None]) -> CreateAclsResponse:
        return CreateAclsResponse(results=[_result(one, call) for one in results])

    call.respond_later(acls.create(bindings), response)


def _binding(creation: AclCreation) -> AclBinding | BrokerError:
    try:
        return AclBinding(
            _known(RESOURCE_TYPES, creation.resource_type, "resourceType"),
            creation.resource_name,
            _known(PATTERN_TYPES, creation.resource_pattern_type, "patternType"),
            creation.principal,
            creation.host,
            _known(OPERATIONS, creation.operation, "operation"),
            _known(PERMISSIONS, creation.permission_type, "permissionType"),
        )
    except InvalidRequest as refused:
        return refused


def _known(table: Mapping[int, T], number: int, field: str) -> T:
    if number in table:
        return table[number]
    check_not_unknown(number)
    word = "ANY" if number == ANY else "UNKNOWN"
    if number == MATCH and field == "patternType":
        word = "MATCH"
    raise InvalidRequest(f"Invalid {field} {word}")


def _result(error: BrokerError | None, call: Call) -> AclCreationResult:
    if error is None:
        return AclCreationResult()
    return AclCreationResult(error_code=call.code(error), error_message=error.message or None)
