"""The authorizer of a broker without access control."""

from __future__ import annotations

from domain.security.access import Operation, ResourceType
from domain.security.principal import Principal


class OpenAuthorizer:
    """Allows everything to every principal."""

    allows_everything = True

    def allows(
        self, principal: Principal, operation: Operation, resource: ResourceType, name: str
    ) -> bool:
        return True

    def allows_any(
        self, principal: Principal, operation: Operation, resource: ResourceType
    ) -> bool:
        return True
