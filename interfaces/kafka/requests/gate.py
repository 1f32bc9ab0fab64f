"""Gate: asks the authorizer whether the principal may do what a request wants to do.

The table of APIs lists the rights that each API needs. If the authorizer allows everything, there
is no gate. Otherwise the gate runs before the handler. Elements of a request (topics, groups) that
the principal has no right to are taken out of it, and the handler gets the rest; their errors are
joined to its response. Other requests are refused as a whole.

Handlers that omit resources, or have other rules, ask the authorizer themselves (`Call.requires`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from itertools import islice
from types import ModuleType
from typing import Any

from domain.configs.resource import RESOURCE_KINDS, ResourceKind
from domain.errors import (
    BrokerError,
    ClusterAuthorizationFailed,
    GroupAuthorizationFailed,
    TopicAuthorizationFailed,
    TransactionalIdNotAuthorized,
)
from domain.security.access import CLUSTER_NAME, Operation, ResourceType
from interfaces.kafka.requests.apis import Api, Need, Refusal
from interfaces.kafka.requests.failures import Failed, failed_response
from interfaces.kafka.wire.schema import Message, Response

_REFUSALS: dict[ResourceType, type[BrokerError]] = {
    ResourceType.TOPIC: TopicAuthorizationFailed,
    ResourceType.GROUP: GroupAuthorizationFailed,
    ResourceType.CLUSTER: ClusterAuthorizationFailed,
    ResourceType.TRANSACTIONAL_ID: TransactionalIdNotAuthorized,
}
#: In messages.
_WORDS = {
    ResourceType.TOPIC: "Topic",
    ResourceType.GROUP: "Group",
    ResourceType.CLUSTER: "Cluster",
    ResourceType.TRANSACTIONAL_ID: "Transactional Id",
}
_CLUSTER_ACTION = Operation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME
#: Key types of FindCoordinator.
_TRANSACTION, _SHARE = 1, 2

Resource = tuple[ResourceType, str]
#: (request, call) -> response
Handle = Callable[[Any, Any], Response | None]
#: Wraps the handler of an API.
Wrap = Callable[[Api, int, Handle], Handle]


def gated(
    api: Api,
    version: int,
    request_type: type[Message],
    response_type: type[Message],
    handler: ModuleType,
    handle: Handle,
) -> Handle:
    """Wraps a handler."""
    whole: list[tuple[Need, str]] = []
    for need in api.needs:
        if need.refusal is Refusal.BY_HANDLER:
            continue
        fields = [one for one in need.fields.split() if request_type.fields_[one].is_in(version)]
        if need.fields and not fields:
            continue
        field = fields[0] if fields else ""
        is_array = bool(field) and request_type.fields_[field].kind == "array"
        if need.refusal is Refusal.ELEMENTS and is_array:
            handle = _Elements(need, field, version, request_type, response_type, handler, handle)
        else:
            whole.append((need, field))
    inner = handle

    def gate(request: Any, call: Any) -> Response | None:
        for need, field in whole:
            if field and getattr(request, field) is None:
                continue
            for resource in _resources(request, need, field, call):
                if not call.requires(need.operation, *resource):
                    raise refusal_of(resource[0], api)
        return inner(request, call)

    return gate if whole else inner


def refusal_of(resource_type: ResourceType, api: Api) -> BrokerError:
    """With a message for the cluster, as in Kafka."""
    if resource_type is ResourceType.CLUSTER:
        return ClusterAuthorizationFailed(f"Request {api.title} is not authorized.")
    return _REFUSALS[resource_type]()


class _Elements:
    """Takes elements without a right out of a request, and joins their errors to the response."""

    def __init__(
        self,
        need: Need,
        field: str,
        version: int,
        request_type: type[Message],
        response_type: type[Message],
        handler: ModuleType,
        handle: Handle,
    ) -> None:
        self._operation: Operation = need.operation
        self._resource_type = need.resource_type
        self._field = field
        self._handle = handle
        #: As in Kafka, which has messages for the elements of some APIs.
        self._message: str | None = getattr(handler, "NOT_AUTHORIZED", None)
        self._refused_last: bool = getattr(handler, "REFUSED_LAST", False)
        self._or_cluster_action: bool = getattr(handler, "OR_CLUSTER_ACTION", False)
        values = getattr(handler, "FAILED", {})
        self._failed = failed_response(
            request_type, response_type, version, values, in_elements=True
        )
        self._arrays = [
            name for name, field in response_type.fields_.items() if field.kind == "array"
        ]

    def __call__(self, request: Any, call: Any) -> Response | None:
        operation, resource_type = self._operation, self._resource_type
        peer, allows = call.peer, call.broker.authorizer.allows
        principal, address = peer.principal, peer.address
        for element in getattr(request, self._field) or ():
            resource = _resource_of(element, resource_type, request, call)
            if resource is not None and not allows(principal, address, operation, *resource):
                return self._split(request, call)
        return self._handle(request, call)

    def _split(self, request: Any, call: Any) -> Response | None:
        if self._or_cluster_action and call.allows(*_CLUSTER_ACTION):
            return self._handle(request, call)
        refused: dict[ResourceType, list[Any]] = {}
        allowed = []
        #: The resource type of each refused element, in the order of the request.
        order: list[ResourceType | None] = []
        for element in getattr(request, self._field) or ():
            resource = _resource_of(element, self._resource_type, request, call)
            # The handler refuses unknown topic ids.
            if resource is None or call.requires(self._operation, *resource):
                allowed.append(element)
                order.append(None)
            else:
                refused.setdefault(resource[0], []).append(element)
                order.append(resource[0])
        if not refused:  # another right implies it
            return self._handle(request, call)
        errors = {one: self._refused(request, one, refused[one], call) for one in refused}
        rest = self._part(request, allowed)
        call.route = _joining(
            call.route, rest, lambda response: self._join(response, errors, order)
        )
        return self._handle(rest, call)

    def _refused(
        self, request: Any, resource_type: ResourceType, elements: list[Any], call: Any
    ) -> Any:
        code = call.code(_REFUSALS[resource_type]())
        message = self._message and self._message.format(_WORDS[resource_type])
        return self._failed(self._part(request, elements), code, message)

    def _part(self, request: Any, elements: list[Any]) -> Any:
        part = copy(request)
        setattr(part, self._field, elements)
        return part

    def _join(
        self,
        response: Any,
        errors: dict[ResourceType, Any],
        order: list[ResourceType | None],
    ) -> Any:
        whole = copy(response)
        for name in self._arrays:
            results = {kind: list(getattr(one, name) or ()) for kind, one in errors.items()}
            setattr(whole, name, self._joined(getattr(response, name) or [], results, order))
        return whole

    def _joined(
        self,
        allowed: list[Any],
        errors: dict[ResourceType, list[Any]],
        order: list[ResourceType | None],
    ) -> list[Any]:
        """In the order of the request, unless the handler has not one result for each element."""
        if self._refused_last or len(allowed) != order.count(None):
            return [*allowed, *(one for each in errors.values() for one in each)]
        results: dict[ResourceType | None, Iterator[Any]] = {None: iter(allowed)}
        results.update((kind, iter(each)) for kind, each in errors.items())
        return [one for kind in order for one in islice(results[kind], 1)]


def _joining(route: Any, rest: Any, join: Callable[[Any], Any]) -> Any:
    """The route of a call whose response is joined to errors of other elements."""
    joining, encode = copy(route), route.encode
    failed: Failed = route.failed
    joining.encode = lambda response: encode(join(response))
    joining.failed = lambda _request, code, message: failed(rest, code, message)
    return joining


def _resources(request: Any, need: Need, field: str, call: Any) -> Iterator[Resource]:
    if need.resource_type is ResourceType.CLUSTER:
        yield ResourceType.CLUSTER, CLUSTER_NAME
        return
    for element in elements(request, [field]):
        resource = _resource_of(element, need.resource_type, request, call)
        if resource is not None:
            yield resource


def _resource_of(
    element: Any, resource_type: ResourceType | None, request: Any, call: Any
) -> Resource | None:
    if resource_type is None:
        if isinstance(element, str) and request.key_type == _SHARE:
            return None  # the handler checks another right
        return _named_resource(element, request)
    name = element if isinstance(element, str) else getattr(element, "name", None)
    if not name and not isinstance(element, str):
        name = name_of(element, call)
    return None if name is None else (resource_type, name)


def elements(value: Any, path: list[str]) -> Iterator[Any]:
    """The values at the end of a path of fields, through lists."""
    if isinstance(value, list):
        for one in value:
            yield from elements(one, path)
    elif path:
        yield from elements(getattr(value, path[0]), path[1:])
    elif value is not None:
        yield value


def name_of(element: Any, call: Any) -> str | None:
    """None: an unknown topic id."""
    for field in ("name", "topic", "group_id"):
        name: str | None = getattr(element, field, None)
        if name:
            return name
    if hasattr(element, "topic_id"):
        found: str | None = call.broker.catalog.name_of(element.topic_id)
        return found
    return ""


def _named_resource(element: Any, request: Any) -> Resource:
    """The resource of a FindCoordinator key, or of a config resource."""
    if isinstance(element, str):
        is_transaction = request.key_type == _TRANSACTION
        return ResourceType.TRANSACTIONAL_ID if is_transaction else ResourceType.GROUP, element
    kind = RESOURCE_KINDS.get(element.resource_type)
    if kind is ResourceKind.TOPIC:
        return ResourceType.TOPIC, element.resource_name
    if kind is ResourceKind.GROUP:
        return ResourceType.GROUP, element.resource_name
    return ResourceType.CLUSTER, CLUSTER_NAME
