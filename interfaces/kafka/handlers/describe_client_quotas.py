"""DescribeClientQuotas (key 48), versions 0-1 (KIP-546).

1  flexible
"""

from __future__ import annotations

from domain.security.quota import QuotaEntity, Quotas
from domain.security.quota_filter import QuotaFilter
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

FAILED = {"entries": None}


def handle(request: DescribeClientQuotasRequest, call: Call) -> DescribeClientQuotasResponse:
    components = ((one.entity_type, one.match_type, one.match) for one in request.components)
    found = call.broker.quota_service.describe(QuotaFilter(components, request.strict))
    return DescribeClientQuotasResponse(entries=[_entry(*one) for one in found])


def _entry(entity: QuotaEntity, quotas: Quotas) -> EntryData:
    return EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.parts()],
        values=[ValueData(key=key, value=value) for key, value in quotas.items()],
    )
