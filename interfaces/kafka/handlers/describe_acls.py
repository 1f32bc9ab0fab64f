"""DescribeAcls (key 29), versions 1-3.

1  prefixed resource names (KIP-290)      2  flexible      3  users as resources (KIP-373)

There is no authorizer: the answer is that of a Kafka without one.
"""

from __future__ import annotations

from domain.errors import SecurityDisabled
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse


def handle(request: DescribeAclsRequest, call: Call) -> DescribeAclsResponse:
    disabled = SecurityDisabled("No Authorizer is configured on the broker")
    response = failed(request, call, call.expected_code(disabled))
    response.error_message = disabled.message
    return response


def failed(request: DescribeAclsRequest, call: Call, code: int) -> DescribeAclsResponse:
    return DescribeAclsResponse(error_code=code)
