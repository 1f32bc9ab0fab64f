"""Quotas as JSON. Confluent's v3 has none."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from application.security.quotas import QuotaAlteration
from domain.security.quota import CLIENT_ID, IP, USER, QuotaEntity, Quotas
from interfaces.rest.shapes.common import RequestModel, example

#: Of an entity in JSON: Kafka's type of it.
TYPES = {"user": USER, "client_id": CLIENT_ID, "ip": IP}
_NAMES = {kind: name for name, kind in TYPES.items()}


class QuotaBody(TypedDict):
    #: user, client_id, both, or ip; null: the default for all that have no quota of their own.
    entity: dict[str, str | None]
    quotas: dict[str, float]


class EntityQuotas(RequestModel):
    """A quota that is null is removed; those that are not named stay."""

    entity: dict[str, str | None]
    quotas: dict[str, float | None] = Field(min_length=1)

    def alteration(self) -> QuotaAlteration:
        parts = {TYPES.get(name, name): value for name, value in self.entity.items()}
        return QuotaAlteration(parts, list(self.quotas.items()))


class AlterQuotas(RequestModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra=example(
            data=[{"entity": {"user": "alice"}, "quotas": {"producer_byte_rate": 1000000}}]
        ),
    )

    data: list[EntityQuotas] = Field(min_length=1, max_length=1000)
    validate_only: bool = False


def quota_body(entity: QuotaEntity, quotas: Quotas) -> dict[str, Any]:
    parts = {_NAMES[kind]: name for kind, name in entity.parts()}
    return {"entity": parts, "quotas": dict(quotas)}
