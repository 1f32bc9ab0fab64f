"""AlterClientQuotas (key 49), versions 0-1 (KIP-546).

1  flexible
"""

from __future__ import annotations

from application.ports.pending import later
from application.security.quotas import Altered, Parts, QuotaAlteration
from domain.errors import BrokerError
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
    EntryResult,
)


def handle(request: AlterClientQuotasRequest, call: Call) -> None:
    alterations = [QuotaAlteration(_parts(one), _ops(one)) for one in request.entries]
    entities = {frozenset(one.parts.items()): one.parts for one in alterations}

    def response(altered: list[Altered]) -> AlterClientQuotasResponse:
        pairs = zip(entities.values(), altered, strict=True)
        return AlterClientQuotasResponse(entries=[_result(*one, call) for one in pairs])

    altered = call.broker.quota_service.alter(alterations, request.validate_only, call.requester)
    call.respond_later(later(altered), response)


def _parts(entry: EntryData) -> Parts:
    """The last one of a type that is named twice."""
    return {one.entity_type: one.entity_name for one in entry.entity}


def _ops(entry: EntryData) -> list[tuple[str, float | None]]:
    return [(op.key, None if op.remove else op.value) for op in entry.ops]


def _result(parts: Parts, altered: Altered, call: Call) -> EntryResult:
    entity = [EntityData(entity_type=kind, entity_name=name) for kind, name in parts.items()]
    if isinstance(altered, BrokerError):
        code, message = call.code(altered), altered.message or None
        return EntryResult(error_code=code, error_message=message, entity=entity)
    return EntryResult(error_code=0, error_message=None, entity=entity)


def failed(
    request: AlterClientQuotasRequest, code: int, message: str | None, version: int
) -> AlterClientQuotasResponse:
    """An error of the request as a whole, for each entity."""
    return AlterClientQuotasResponse(
        entries=[
            EntryResult(
                error_code=code,
                error_message=message,
                entity=[
                    EntityData(entity_type=one.entity_type, entity_name=one.entity_name)
                    for one in entry.entity
                ],
            )
            for entry in request.entries
        ]
    )
