"""Quotas, as DescribeClientQuotas and AlterClientQuotas."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from domain.errors import BrokerError
from domain.security.quota_filter import EXACT, QuotaFilter
from interfaces.rest.exchange import exchange_of
from interfaces.rest.pending import outcome_of, value_of
from interfaces.rest.routes.resource import Routes, get, post
from interfaces.rest.shapes.common import ListOf
from interfaces.rest.shapes.quotas import TYPES, AlterQuotas, QuotaBody, quota_body


class QuotaRoutes(Routes):
    tag = "quotas"
    prefix = "/quotas"

    @get("", ListOf[QuotaBody])
    async def list_quotas(
        self,
        request: Request,
        user: str | None = None,
        client_id: str | None = None,
        ip: str | None = None,
    ) -> Response:
        """Those of entities with these names, among others."""
        names = {"user": user, "client_id": client_id, "ip": ip}
        components = [(TYPES[kind], EXACT, name) for kind, name in names.items() if name]
        found = self._broker.quota_service.describe(QuotaFilter(components, strict=False))
        rows = (quota_body(*one) for one in sorted(found, key=lambda one: str(one[0])))
        return await self._list(request, "KafkaQuotaList", rows)

    @post(":alter", status_code=204)
    async def alter_quotas(self, request: Request, body: AlterQuotas) -> Response:
        """Alters the quotas of each entity, or of none where one is refused."""
        alter, by = self._broker.quota_service.alter, exchange_of(request).requester
        alterations = [one.alteration() for one in body.data]
        for result in await value_of(alter(alterations, validate_only=True)):
            if isinstance(result, BrokerError):
                raise result
        if not body.validate_only:
            for result in await outcome_of(lambda: alter(alterations, False, by)):
                if isinstance(result, BrokerError):
                    raise result
        return Response(status_code=204)
