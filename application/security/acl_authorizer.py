"""AclAuthorizer: decides by ACLs, and caches its decisions until the ACLs change."""

from __future__ import annotations

from domain.security.access import Operation, ResourceType
from domain.security.authorization import AclIndex
from domain.security.principal import Principal
from domain.topics.topic import MAX_NAME_LENGTH

#: Cached decisions; a client can ask for any number of names, of any length: names are not
#: validated before the check. Decisions about names longer than those of topics are not cached.
MAX_CACHED = 20_000


class AclAuthorizer:
    __slots__ = ("_decisions", "index", "revision")

    allows_everything = False

    def __init__(self, index: AclIndex) -> None:
        self.index = index
        self.revision = 0
        self._decisions: dict[tuple[Principal, str, Operation, ResourceType, str | None], bool] = {}

    def changed(self) -> None:
        self.revision += 1
        self._decisions.clear()

    def allows(
        self,
        principal: Principal,
        host: str,
        operation: Operation,
        resource: ResourceType,
        name: str,
    ) -> bool:
        key = (principal, host, operation, resource, name)
        allowed = self._decisions.get(key)
        if allowed is None:
            allowed = self._cached(key, self.index.allows(*key))
        return allowed

    def allows_any(
        self, principal: Principal, host: str, operation: Operation, resource: ResourceType
    ) -> bool:
        key = (principal, host, operation, resource, None)
        allowed = self._decisions.get(key)
        if allowed is None:
            allowed = self.index.allows_any(principal, host, operation, resource)
            self._cached(key, allowed)
        return allowed

    def _cached(
        self, key: tuple[Principal, str, Operation, ResourceType, str | None], allowed: bool
    ) -> bool:
        name = key[-1]
        if name is not None and len(name) > MAX_NAME_LENGTH:
            return allowed
        if len(self._decisions) >= MAX_CACHED:
            self._decisions.clear()
        self._decisions[key] = allowed
        return allowed
