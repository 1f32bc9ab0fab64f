"""Gate: asks the authorizer whether the principal of a connection may do what a request asks for.

A row of the table of APIs says which operation on which resources that is. Where the authorizer
allows everything there is no gate, and nothing is asked. Where there is one, it stands before the
handler, and nothing that shortens the way to a response is used: such a response was made for
another principal, or before its rights changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from application.ports.authorizer import Authorizer
from domain.configs.resource import ResourceKind
from domain.errors import (
    BrokerError,
    ClusterAuthorizationFailed,
    GroupAuthorizationFailed,
    TopicAuthorizationFailed,
)
from domain.security.access import CLUSTER_NAME, Operation, ResourceType
from domain.security.principal import Principal
from interfaces.kafka.requests.apis import Api
from interfaces.kafka.requests.config_numbers import RESOURCE_KINDS

_REFUSALS: dict[ResourceType, type[BrokerError]] = {
    ResourceType.TOPIC: TopicAuthorizationFailed,
    ResourceType.GROUP: GroupAuthorizationFailed,
    ResourceType.CLUSTER: ClusterAuthorizationFailed,
}

Resource = tuple[ResourceType, str]


class Gate:
    def __init__(self, authorizer: Authorizer, topic_name: Callable[[bytes], str | None]) -> None:
        self._authorizer = authorizer
        self._topic_name = topic_name

    def check(self, api: Api, request: Any, principal: Principal) -> None:
        """Raises the error that refuses the request as a whole."""
        for operation, resource_type, fields in api.needs:
            for resource, name in self._resources(request, resource_type, fields):
                if not self._allows(principal, operation, resource, name):
                    raise _REFUSALS[resource]

    def _allows(
        self, principal: Principal, operation: Operation, resource: ResourceType, name: str
    ) -> bool:
        allows = self._authorizer.allows
        return allows(principal, operation, resource, name) or (
            operation is Operation.CREATE
            and allows(principal, operation, ResourceType.CLUSTER, CLUSTER_NAME)
        )

    def _resources(
        self, request: Any, resource_type: ResourceType | None, fields: str
    ) -> Iterator[Resource]:
        if resource_type is ResourceType.CLUSTER:
            yield resource_type, CLUSTER_NAME
        for path in fields.split():
            for one in _elements(request, path.split(".")):
                if resource_type is None:
                    yield _of_config(one)
                    continue
                name = one if isinstance(one, str) else self._name(one)
                if name:  # a topic that is not known by its id is refused by the handler
                    yield resource_type, name

    def _name(self, one: Any) -> str | None:
        for field in ("name", "topic", "group_id"):
            name: str | None = getattr(one, field, None)
            if name:
                return name
        return self._topic_name(one.topic_id)


def _elements(value: Any, path: list[str]) -> Iterator[Any]:
    """In the fields that the version has; the others are empty."""
    if isinstance(value, list):
        for one in value:
            yield from _elements(one, path)
    elif path:
        yield from _elements(getattr(value, path[0]), path[1:])
    elif value:
        yield value


def _of_config(one: Any) -> Resource:
    kind = RESOURCE_KINDS.get(one.resource_type)
    if kind is ResourceKind.TOPIC:
        return ResourceType.TOPIC, one.resource_name
    if kind is ResourceKind.GROUP:
        return ResourceType.GROUP, one.resource_name
    return ResourceType.CLUSTER, CLUSTER_NAME
