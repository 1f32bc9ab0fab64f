"""`ottla acl test`: whether a user may do something, by the ACLs and settings of the broker."""

from __future__ import annotations

import argparse
from typing import Any

from domain.security.access import Operation, ResourceType
from domain.security.acl import AclBinding, PatternType, Permission
from domain.security.authorization import AclIndex
from domain.security.principal import parse_principals
from interfaces.cli.acl import Resource, all_acls, in_words, named_resources, plain, principal_of
from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed, UsageError

_RESOURCE_TYPES = {
    "TOPIC": ResourceType.TOPIC,
    "GROUP": ResourceType.GROUP,
    "TRANSACTIONAL_ID": ResourceType.TRANSACTIONAL_ID,
    "BROKER": ResourceType.CLUSTER,
}


def decide(parsed: argparse.Namespace) -> int:
    resources = named_resources(parsed)
    if len(resources) != 1:
        raise UsageError("expected one resource")
    [resource] = resources
    clients = Clients(parsed)
    admin = clients.admin()
    settings = _settings(clients, admin)
    if not settings.get("authorizer.class.name"):
        print("yes: the broker has no authorizer (authorizer.class.name)")
        return 0
    principal = principal_of(parsed.user)
    # Also if only super users may describe ACLs.
    if principal in map(str, parse_principals(settings.get("super.users", ""))):
        print(f"yes: {principal} is in super.users")
        return 0
    bindings = {_of(one): one for one in all_acls(clients)}
    is_open = settings.get("allow.everyone.if.no.acl.found") == "true"
    may, why = _decision(bindings, is_open, principal, parsed, resource)
    print(f"{'yes' if may else 'no'}: {why}")
    return 0 if may else 1


def _decision(
    bindings: dict[AclBinding, Any],
    is_open: bool,
    principal: str,
    parsed: argparse.Namespace,
    resource: Resource,
) -> tuple[bool, str]:
    operation = next(one for one in Operation if one.value.lower() == parsed.operation)
    index = AclIndex(allowed_without_acl=is_open)
    index.add(bindings)
    kind = _RESOURCE_TYPES[resource.kind]
    [who] = parse_principals(principal)
    may, decides = index.decide(who, parsed.host, operation, kind, resource.name)
    if decides is not None:
        return may, in_words(bindings[decides])
    if may:
        return True, "the resource has no ACL, and allow.everyone.if.no.acl.found is true"
    return False, f"no ACL allows {principal} {parsed.operation} of {resource.name}"


def _settings(clients: Clients, admin: Any) -> dict[str, str]:
    from confluent_kafka.admin import ConfigResource

    resource = ConfigResource(ConfigResource.Type.BROKER, str(clients.broker_id(admin)))
    [future] = admin.describe_configs([resource], request_timeout=clients.timeout_s).values()
    found = clients.result("the configs of the broker", future, admin)
    return {name: one.value or "" for name, one in found.items()}


def _of(binding: Any) -> AclBinding:
    """Of confluent-kafka's."""
    kind = _RESOURCE_TYPES.get(binding.restype.name)
    if kind is None:
        raise CommandFailed(f"an ACL of {binding.restype.name}, which is not known here")
    operation = plain(binding.operation.name)
    return AclBinding(
        kind,
        binding.name,
        PatternType[binding.resource_pattern_type.name],
        binding.principal,
        binding.host,
        next(one for one in Operation if one.value.lower() == operation),
        Permission[binding.permission_type.name],
    )
