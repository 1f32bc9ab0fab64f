"""DescribeClientQuotas (key 48), versions 0-1 (KIP-546).

1  flexible

There are no quotas: filters are checked as Kafka checks them, and match nothing.
"""

from __future__ import annotations

from domain.quotas import check_quota_filter
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)

FAILED = {"entries": None}


def handle(request: DescribeClientQuotasRequest, call: Call) -> DescribeClientQuotasResponse:
    check_quota_filter((one.entity_type, one.match_type, one.match) for one in request.components)
    return DescribeClientQuotasResponse()
