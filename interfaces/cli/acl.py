"""`ottla acl add|list|delete`: ACLs as those of confluent-kafka."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from interfaces.cli.client import Clients, check_code, print_each
from interfaces.cli.failures import UsageError
from interfaces.cli.output import confirmed, show_rows

if TYPE_CHECKING:
    from interfaces.kafka.wire.messages.describe_acls import DescribeAclsResponse

_CLUSTER = "kafka-cluster"
_VERSION = 1
_COLUMNS = ("principal", "host", "permission", "operation", "resource", "name", "pattern")


#: An AclBinding of confluent-kafka.
Binding = Any


class Resource(NamedTuple):
    """With the names of confluent-kafka."""

    kind: str
    name: str


def add(parsed: argparse.Namespace) -> int:
    from confluent_kafka.admin import AclBinding

    bindings = [
        AclBinding(
            *_pattern(parsed, resource),
            principal_of(parsed.user),
            parsed.host or "*",
            _operation(operation),
            _permission(parsed.deny),
        )
        for resource, operation in dict.fromkeys(_rules(parsed))
    ]
    clients = Clients(parsed)
    admin = clients.admin()
    with clients.requesting("the ACLs", admin):
        futures = admin.create_acls(bindings, request_timeout=clients.timeout_s)
    return print_each(clients, futures, in_words, lambda binding, _: f"{in_words(binding)}: added")


def list_acls(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    found = _found(clients, _filters(parsed))
    show_rows([_row(one) for one in found], parsed.output, _COLUMNS)
    return 0


def delete(parsed: argparse.Namespace) -> int:
    filters = list(_filters(parsed))
    rule = (parsed.user, parsed.operations, parsed.prefixed, parsed.deny, parsed.host)
    if not (any(_named(parsed)) or parsed.cluster or any(rule)):
        raise UsageError("a filter is missing: USER, --topic, --operation, ...")
    clients = Clients(parsed)
    admin = clients.admin()
    found = _found(clients, filters)
    if not found:
        print("no ACL matches")
        return 0
    lines = "\n".join(map(in_words, found))
    if not confirmed(f"{lines}\nDelete {len(found)} ACLs?", parsed.yes):
        return 1
    with clients.requesting("the ACLs", admin):
        futures = admin.delete_acls(filters, request_timeout=clients.timeout_s)
    for future in futures.values():
        for binding in clients.result("the ACLs", future, admin):
            print(f"{in_words(binding)}: deleted")
    return 0


# ---- what the arguments name


def _rules(parsed: argparse.Namespace) -> Iterator[tuple[Resource, str]]:
    topics, groups, ids = _named(parsed)
    if parsed.consumer and not (topics and groups):
        raise UsageError("--consumer needs --topic and --group")
    if parsed.producer and not topics:
        raise UsageError("--producer needs --topic")
    if parsed.producer:
        yield from _each(topics, ("write", "describe", "create"))
        yield from _each(ids, ("write", "describe"))
    if parsed.consumer:
        yield from _each(topics, ("read", "describe"))
        yield from _each(groups, ("read",))
    if parsed.operations:
        yield from _each(named_resources(parsed), parsed.operations)
    elif not (parsed.producer or parsed.consumer):
        raise UsageError("--operation is missing, or --producer or --consumer")


def _each(
    resources: Iterable[Resource], operations: Iterable[str]
) -> Iterator[tuple[Resource, str]]:
    return ((resource, operation) for resource in resources for operation in operations)


def _named(parsed: argparse.Namespace) -> list[list[Resource]]:
    return [
        [Resource(kind, name) for name in names]
        for kind, names in (
            ("TOPIC", parsed.topics),
            ("GROUP", parsed.groups),
            ("TRANSACTIONAL_ID", parsed.transactional_ids),
        )
    ]


def named_resources(parsed: argparse.Namespace) -> list[Resource]:
    found = [resource for of_kind in _named(parsed) for resource in of_kind]
    if parsed.cluster:
        found.append(Resource("BROKER", _CLUSTER))  # librdkafka's word
    if not found:
        raise UsageError("a resource is missing: --topic, --group, --transactional-id or --cluster")
    return found


def _pattern(parsed: argparse.Namespace, resource: Resource) -> tuple[Any, str, Any]:
    from confluent_kafka.admin import ResourcePatternType, ResourceType

    is_prefix = parsed.prefixed and resource.kind != "BROKER"
    pattern = ResourcePatternType.PREFIXED if is_prefix else ResourcePatternType.LITERAL
    return ResourceType[resource.kind], resource.name, pattern


def principal_of(user: str) -> str:
    return user if ":" in user else f"User:{user}"


def _operation(name: str) -> Any:
    from confluent_kafka.admin import AclOperation

    return next(one for one in AclOperation if plain(one.name) == name)


def plain(name: str) -> str:
    return name.replace("_", "").lower()


def _permission(is_denied: bool) -> Any:
    from confluent_kafka.admin import AclPermissionType

    return AclPermissionType.DENY if is_denied else AclPermissionType.ALLOW


def _filters(parsed: argparse.Namespace) -> Iterator[Any]:
    """One for each resource and operation of the arguments."""
    from confluent_kafka.admin import (
        AclBindingFilter,
        AclOperation,
        AclPermissionType,
        ResourcePatternType,
        ResourceType,
    )

    is_named = any(_named(parsed)) or parsed.cluster
    patterns: list[tuple[Any, Any, Any]]
    if is_named:
        patterns = [_pattern(parsed, resource) for resource in named_resources(parsed)]
    else:
        kind = ResourcePatternType.PREFIXED if parsed.prefixed else ResourcePatternType.ANY
        patterns = [(ResourceType.ANY, None, kind)]
    operations = [_operation(name) for name in parsed.operations] or [AclOperation.ANY]
    permission = AclPermissionType.DENY if parsed.deny else AclPermissionType.ANY
    principal: Any = None if parsed.user is None else principal_of(parsed.user)
    for pattern in patterns:
        for operation in operations:
            yield AclBindingFilter(*pattern, principal, parsed.host, operation, permission)


def all_acls(clients: Clients) -> list[Binding]:
    from confluent_kafka.admin import (
        AclBindingFilter,
        AclOperation,
        AclPermissionType,
        ResourcePatternType,
        ResourceType,
    )

    nothing: Any = None
    everything = AclBindingFilter(
        ResourceType.ANY,
        nothing,
        ResourcePatternType.ANY,
        nothing,
        nothing,
        AclOperation.ANY,
        AclPermissionType.ANY,
    )
    return _found(clients, [everything])


def _found(clients: Clients, filters: Iterable[Any]) -> list[Binding]:
    """By a request of our own: librdkafka 2.16 returns no ACLs where the broker refuses."""
    from interfaces.kafka.wire.messages.describe_acls import (
        DescribeAclsRequest,
        DescribeAclsResponse,
    )

    found: dict[Any, None] = {}
    with clients.wire("the ACLs") as client:
        for one in filters:
            request = DescribeAclsRequest(
                one.restype.value,
                one.name,
                one.resource_pattern_type.value,
                one.principal,
                one.host,
                one.operation.value,
                one.permission_type.value,
            )
            response = client.send(request, _VERSION, DescribeAclsResponse)
            check_code("the ACLs", response.error_code, response.error_message)
            found |= dict.fromkeys(_bindings(response))
    return sorted(found, key=in_words)


def _bindings(response: DescribeAclsResponse) -> Iterator[Binding]:
    """librdkafka's numbers are Kafka's."""
    from confluent_kafka.admin import (
        AclBinding,
        AclOperation,
        AclPermissionType,
        ResourcePatternType,
        ResourceType,
    )

    for resource in response.resources:
        for acl in resource.acls:
            yield AclBinding(
                ResourceType(resource.resource_type),
                resource.resource_name,
                ResourcePatternType(resource.pattern_type),
                acl.principal,
                acl.host,
                AclOperation(acl.operation),
                AclPermissionType(acl.permission_type),
            )


# ---- output


def _row(binding: Binding) -> dict[str, str]:
    return {
        "principal": binding.principal,
        "host": binding.host,
        "permission": binding.permission_type.name.lower(),
        "operation": plain(binding.operation.name),
        "resource": _kind(binding),
        "name": binding.name,
        "pattern": binding.resource_pattern_type.name.lower(),
    }


def _kind(binding: Binding) -> str:
    kind = binding.restype.name
    return "cluster" if kind == "BROKER" else kind.lower().replace("_", "-")


def in_words(binding: Binding) -> str:
    row = _row(binding)
    where = "" if row["host"] == "*" else f" from {row['host']}"
    name = f"{row['name']}*" if row["pattern"] == "prefixed" else row["name"]
    return (
        f"{row['principal']}{where}: {row['permission']} {row['operation']} "
        f"{row['resource']} {name}"
    )
