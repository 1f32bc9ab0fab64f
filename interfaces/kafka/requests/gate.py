"""Gate: asks the authorizer whether the principal may do what a request wants to do.

The table of APIs lists the operations and resources of each API. If the authorizer allows
everything, there is no gate. Otherwise the gate runs before the handler, and no cached request or
response is used: it was made for another principal, or before its ACLs changed.

Handlers that omit or refuse single resources (Metadata, ListGroups) ask the authorizer themselves.
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
#: The key type of a transactional id in FindCoordinator.
_TRANSACTION = 1

Resource = tuple[ResourceType, str]
#: (request, call) -> response
Handle = Callable[[Any, Any], Response | None]
#: Wraps the handler of an API.
Wrap = Callable[[Api, int, Handle], Handle]


def gated(api: Api, version: int, request_type: type[Message], handle: Handle) -> Handle:
    """Wraps a handler: refuses the whole request if one of its resources is not allowed."""
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
    """Paths of the fields that this version has."""
    paths = [path.split(".") for path in fields.split()]
    return [path for path in paths if request_type.fields_[path[0]].is_in(version)]


def _resources(
    request: Any, resource_type: ResourceType | None, paths: list[list[str]], call: Any
) -> Iterator[Resource]:
    if resource_type is ResourceType.CLUSTER:
        yield resource_type, CLUSTER_NAME
    for path in paths:
        for one in elements(request, path):
            if resource_type is None:
                yield _named_resource(one, request)
                continue
            name = one if isinstance(one, str) else name_of(one, call)
            if name is not None:  # the handler refuses unknown topic ids
                yield resource_type, name


def elements(value: Any, path: list[str]) -> Iterator[Any]:
    if isinstance(value, list):
        for one in value:
            yield from elements(one, path)
    elif path:
        yield from elements(getattr(value, path[0]), path[1:])
    elif value is not None:
        yield value


def name_of(one: Any, call: Any) -> str | None:
    for field in ("name", "topic", "group_id"):
        name: str | None = getattr(one, field, None)
        if name:
            return name
    return call.broker.catalog.name_of(one.topic_id) if hasattr(one, "topic_id") else ""


def _named_resource(one: Any, request: Any) -> Resource:
    """The resource of a FindCoordinator key, or of a config resource."""
    if isinstance(one, str):
        is_transaction = request.key_type == _TRANSACTION
        return ResourceType.TRANSACTIONAL_ID if is_transaction else ResourceType.GROUP, one
    kind = RESOURCE_KINDS.get(one.resource_type)
    if kind is ResourceKind.TOPIC:
        return ResourceType.TOPIC, one.resource_name
    if kind is ResourceKind.GROUP:
        return ResourceType.GROUP, one.resource_name
    return ResourceType.CLUSTER, CLUSTER_NAME
