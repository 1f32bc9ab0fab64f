"""CreateAcls (key 30), versions 1-3.

1  prefixed resource names (KIP-290)      2  flexible      3  users as resources (KIP-373)

There is no authorizer: the answer is that of a Kafka without one.
"""

from __future__ import annotations

from domain.errors import SecurityDisabled
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)


def handle(request: CreateAclsRequest, call: Call) -> CreateAclsResponse:
    disabled = SecurityDisabled("No Authorizer is configured.")
    response = failed(request, call, call.expected_code(disabled))
    for one in response.results:
        one.error_message = disabled.message
    return response


def failed(request: CreateAclsRequest, call: Call, code: int) -> CreateAclsResponse:
    return CreateAclsResponse(
        results=[AclCreationResult(error_code=code) for _ in request.creations]
    )
