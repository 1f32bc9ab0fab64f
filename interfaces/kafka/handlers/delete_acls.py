"""DeleteAcls (key 31), versions 1-3.

1  prefixed resource names (KIP-290)      2  flexible      3  users as resources (KIP-373)

There is no authorizer: the answer is that of a Kafka without one.
"""

from __future__ import annotations

from domain.errors import SecurityDisabled
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)


def handle(request: DeleteAclsRequest, call: Call) -> DeleteAclsResponse:
    disabled = SecurityDisabled("No Authorizer is configured.")
    response = failed(request, call, call.expected_code(disabled))
    for one in response.filter_results:
        one.error_message = disabled.message
    return response


def failed(request: DeleteAclsRequest, call: Call, code: int) -> DeleteAclsResponse:
    return DeleteAclsResponse(
        filter_results=[DeleteAclsFilterResult(error_code=code) for _ in request.filters]
    )
