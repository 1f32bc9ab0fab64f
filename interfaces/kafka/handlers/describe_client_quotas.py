"""DescribeClientQuotas (key 48), versions 0-1 (KIP-546).

1  flexible

There are no quotas: filters are checked as Kafka checks them, and match nothing.
"""

from __future__ import annotations

from domain.errors import BrokerError
from domain.quotas import check_quota_filter
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)


def handle(request: DescribeClientQuotasRequest, call: Call) -> DescribeClientQuotasResponse:
    try:
        check_quota_filter(
            (one.entity_type, one.match_type, one.match) for one in request.components
        )
    except BrokerError as refused:
        response = failed(request, call, call.code(refused))
        response.error_message = refused.message
        return response
    return DescribeClientQuotasResponse()


def failed(
    request: DescribeClientQuotasRequest, call: Call, code: int
) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(error_code=code, entries=None)
