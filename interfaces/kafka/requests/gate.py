"""Gate: asks the authorizer whether the principal of a connection may do what a request asks for.

A row of the table of APIs says which operation on which resources that is. Where the authorizer
allows everything there is no gate, and nothing is asked. Where there is one, it stands before the
handler, and nothing that shortens the way to a response is used: such a response was made for
another principal, or before its rights changed.

A handler asks by itself where its response leaves out, or refuses, only what is not allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from domain.configs.resource import ResourceKind
from domain.errors import (
    BrokerError,
    ClusterAuthorizationFailed,
    GroupAuthorizationFailed,
    TopicAuthorizationFailed,
    TransactionalIdNotAuthorized,
)
from domain.security.access import CLUSTER_NAME, ResourceType
from interfaces.kafka.requests.apis import Api
from interfaces.kafka.requests.config_numbers import RESOURCE_KINDS
from interfaces.kafka.wire.schema import Message, Response

_REFUSALS: dict[ResourceType, type[BrokerError]] = {
    ResourceType.TOPIC: TopicAuthorizationFailed,
    ResourceType.GROUP: GroupAuthorizationFailed,
    ResourceType.CLUSTER: ClusterAuthorizationFailed,
    ResourceType.TRANSACTIONAL_ID: TransactionalIdNotAuthorized,
}
#: What FindCoordinator calls a key of this kind.
_TRANSACTION = 1

Resource = tuple[ResourceType, str]
#: (request, call) -> response
Handle = Callable[[Any, Any], Response | None]


def gated(api: Api, version: int, request_type: type[Message], handle: Handle) -> Handle:
    """Refuses a request as a whole where anything of it is not allowed."""
    needs = [
        (operation, resource_type, _paths(fields, request_type, version))
        for operation, resource_type, fields in api.needs
    ]

    def gate(request: Any, call: Any) -> Response | None:
        for operation, resource_type, paths in needs:
            for resource in _resources(request, resource_type, paths, call):
                if not call.allows(operation, *resource):
                    raise _REFUSALS[resource[0]]
        return handle(request, call)

    return gate


def _paths(fields: str, request_type: type[Message], version: int) -> list[list[str]]:
    """Of the fields that the version has."""
    paths = [path.split(".") for path in fields.split()]
    return [path for path in paths if request_type.fields_[path[0]].is_in(version)]


def _resources(
    request: Any, resource_type: ResourceType | None, paths: list[list[str]], call: Any
) -> Iterator[Resource]:
    if resource_type is ResourceType.CLUSTER:
        yield resource_type, CLUSTER_NAME
    for path in paths:
        for one in _elements(request, path):
            if resource_type is None:
                yield _as_it_says(one, request)
                continue
            name = one if isinstance(one, str) else _name(one, call)
            if name is not None:  # a topic that is not known by its id is refused by the handler
                yield resource_type, name


def _elements(value: Any, path: list[str]) -> Iterator[Any]:
    if isinstance(value, list):
        for one in value:
            yield from _elements(one, path)
    elif path:
        yield from _elements(getattr(value, path[0]), path[1:])
    elif value is not None:
        yield value


def _name(one: Any, call: Any) -> str | None:
    for field in ("name", "topic", "group_id"):
        name: str | None = getattr(one, field, None)
        if name:
            return name
    return call.broker.catalog.name_of(one.topic_id) if hasattr(one, "topic_id") else ""


def _as_it_says(one: Any, request: Any) -> Resource:
    """A key of FindCoordinator, or a resource that has configs."""
    if isinstance(one, str):
        is_transaction = request.key_type == _TRANSACTION
        return ResourceType.TRANSACTIONAL_ID if is_transaction else ResourceType.GROUP, one
    kind = RESOURCE_KINDS.get(one.resource_type)
    if kind is ResourceKind.TOPIC:
        return ResourceType.TOPIC, one.resource_name
    if kind is ResourceKind.GROUP:
        return ResourceType.GROUP, one.resource_name
    return ResourceType.CLUSTER, CLUSTER_NAME
