"""Authorizer: whether a principal may do something to a resource.

It is asked by the interfaces, before a request reaches a service. That one operation implies
another, as Read implies Describe in Kafka, is for the authorizer to know.
"""

from __future__ import annotations

from typing import Protocol

from domain.security.access import Operation, ResourceType
from domain.security.principal import Principal


class Authorizer(Protocol):
    #: Every request is allowed: gates do not ask, and responses may be shared by all principals.
    #: It does not change while the broker runs.
    allows_everything: bool

    def allows(
        self, principal: Principal, operation: Operation, resource: ResourceType, name: str
    ) -> bool: ...

    def allows_any(
        self, principal: Principal, operation: Operation, resource: ResourceType
    ) -> bool:
        """Whether there is a resource of this type to which it is allowed."""
        ...
