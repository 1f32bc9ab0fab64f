"""DescribeAcls (key 29), versions 1-3.

1  prefixed resource names (KIP-290)      2  flexible      3  users as resources (KIP-373)
"""

from __future__ import annotations

from typing import Any

from domain.errors import InvalidRequest, SecurityDisabled
from domain.security.acl import NUMBERS
from interfaces.kafka.handlers.shared.acls import entry, filter_of
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)

EXPECTED = (SecurityDisabled,)


def handle(request: DescribeAclsRequest, call: Call) -> DescribeAclsResponse:
    acls = call.broker.security.acls
    if acls is None:
        raise SecurityDisabled("No Authorizer is configured on the broker")
    try:
        matching = filter_of(request)
    except InvalidRequest:
        return DescribeAclsResponse()
    resources: dict[Any, DescribeAclsResource] = {}
    for binding in acls.find(matching):
        resource_type, name, pattern_type = binding[:3]
        resource = resources.get(binding[:3])
        if resource is None:
            resource = resources[binding[:3]] = DescribeAclsResource(
                NUMBERS[resource_type], name, NUMBERS[pattern_type]
            )
        resource.acls.append(AclDescription(**entry(binding)))
    return DescribeAclsResponse(resources=list(resources.values()))
