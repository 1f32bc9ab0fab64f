"""The authorizer of a broker without access control."""

from __future__ import annotations

from domain.security.access import Operation, ResourceType
from domain.security.principal import Principal


class OpenAuthorizer:
    """Allows everything to every principal."""

    allows_everything = True
    revision = 0

    def allows(
        self,
        principal: Principal,
        host: str,
        operation: Operation,
        resource: ResourceType,
        name: str,
    ) -> bool:
        return True

    def allows_any(
        self, principal: Principal, host: str, operation: Operation, resource: ResourceType
    ) -> bool:
        return True
