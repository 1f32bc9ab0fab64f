"""Authorizer: whether a principal may do something to a resource.

The interfaces call it before a request reaches a service. The authorizer knows which operation
implies another, as Read implies Describe in Kafka.
"""

from __future__ import annotations

from typing import Protocol

from domain.security.access import Operation, ResourceType
from domain.security.principal import Principal


class Authorizer(Protocol):
    #: Every request is allowed: gates make no calls, and responses are shared by all principals.
    #: Constant while the broker runs.
    allows_everything: bool
    #: Rises with every change of what is allowed: a key for caches of decisions.
    revision: int

    def allows(
        self,
        principal: Principal,
        host: str,
        operation: Operation,
        resource: ResourceType,
        name: str,
    ) -> bool:
        """`host`: the IP address of the client."""
        ...

    def allows_any(
        self, principal: Principal, host: str, operation: Operation, resource: ResourceType
    ) -> bool:
        """Whether it is allowed for any resource of this type."""
        ...
