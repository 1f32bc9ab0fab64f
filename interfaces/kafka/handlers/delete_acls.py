"""DeleteAcls (key 31), versions 1-3.

1  prefixed resource names (KIP-290)      2  flexible      3  users as resources (KIP-373)
"""

from __future__ import annotations

from domain.errors import BrokerError, InvalidRequest, SecurityDisabled
from domain.security.acl import NUMBERS, AclBinding, AclFilter
from interfaces.kafka.handlers.shared.acls import entry, filter_of
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)

EXPECTED = (SecurityDisabled,)


def handle(request: DeleteAclsRequest, call: Call) -> None:
    acls = call.broker.security.acls
    if acls is None:
        raise SecurityDisabled("No Authorizer is configured.")

    def response(results: list[list[AclBinding] | BrokerError]) -> DeleteAclsResponse:
        return DeleteAclsResponse(filter_results=[_result(one, call) for one in results])

    call.respond_later(acls.delete([_filter(one) for one in request.filters]), response)


def _filter(requested: DeleteAclsFilter) -> AclFilter | BrokerError:
    try:
        return filter_of(requested)
    except InvalidRequest as unknown:
        return unknown


def _result(deleted: list[AclBinding] | BrokerError, call: Call) -> DeleteAclsFilterResult:
    if isinstance(deleted, BrokerError):
        return DeleteAclsFilterResult(
            error_code=call.code(deleted), error_message=deleted.message or None
        )
    return DeleteAclsFilterResult(
        error_message=None,
        matching_acls=[
            DeleteAclsMatchingAcl(
                error_message=None,
                resource_type=NUMBERS[one.resource_type],
                resource_name=one.resource_name,
                pattern_type=NUMBERS[one.pattern_type],
                **entry(one),
            )
            for one in deleted
        ],
    )
