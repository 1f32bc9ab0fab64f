"""A broker with the standard authorizer, and clients that are logged in."""

from __future__ import annotations

from typing import Any

from domain.configs.settings.access import STANDARD_AUTHORIZER
from domain.security.access import Operation, ResourceType
from domain.security.acl import AclBinding, PatternType, Permission
from domain.security.principal import Principal
from tests.fakes.client import FakeClient, FakeKafka


def allowed(
    operation: Operation,
    resource_type: ResourceType,
    name: str,
    pattern_type: PatternType = PatternType.LITERAL,
    principal: str = "User:alice",
) -> AclBinding:
    return AclBinding(
        resource_type, name, pattern_type, principal, "*", operation, Permission.ALLOW
    )


class SecuredKafka(FakeKafka):
    def __init__(self, *bindings: AclBinding, **settings: str) -> None:
        settings.setdefault("super_users", "User:admin")
        super().__init__(authorizer_class_name=STANDARD_AUTHORIZER, **settings)
        self.create_acls(*bindings)

    def create_acls(self, *bindings: AclBinding) -> None:
        self._results(self._acls.create(bindings))

    def delete_acls(self, *filters: Any) -> None:
        self._results(self._acls.delete(filters))

    @property
    def _acls(self) -> Any:
        acls = self.broker.security.acls
        assert acls is not None
        return acls

    def _results(self, pending: Any) -> None:
        results: list[Any] = []
        pending.then(results.append)
        self.run()
        assert results

    def user(self, name: str = "alice") -> FakeClient:
        client = self.client()
        client.session.principal = Principal("User", name)
        return client
