"""Users, ACLs, quotas and dynamic configs of a plan."""

from __future__ import annotations

from domain.configs.alteration import validate_broker_configs
from domain.configs.broker import BrokerConfig
from domain.configs.group import GROUP_CONFIGS, validate_group_configs
from domain.configs.resource import Resource, ResourceKind
from domain.errors import BrokerError
from domain.security.acl import (
    OPERATIONS,
    PATTERN_TYPES,
    PERMISSIONS,
    RESOURCE_TYPES,
    AclBinding,
    check_new,
    plain_host,
)
from domain.security.quota import altered, quota_entity
from domain.security.scram import ScramCredential, ScramMechanism
from infrastructure.kafka_folder.cluster_image import BROKER, GROUP, TOPIC, ClusterImage
from interfaces.cli.kafka_import.plan import Plan
from interfaces.kafka.wire.metadata_records import AccessControlEntryRecord

_MECHANISMS = {one.value: one for one in ScramMechanism}
_KINDS = {BROKER: ResourceKind.BROKER, GROUP: ResourceKind.GROUP}
_NAMES = {8: "logger", 16: "client metrics"}


def plan_security(plan: Plan, image: ClusterImage) -> None:
    for (name, number), record in sorted(image.credentials.items()):
        mechanism = _MECHANISMS.get(number)
        if mechanism is None:
            plan.skip(f"credential of user {name}", f"SCRAM mechanism {number} is not known")
            continue
        plan.users[name] = {
            **plan.users.get(name, {}),
            mechanism: ScramCredential(
                mechanism, record.iterations, record.salt, record.stored_key, record.server_key
            ),
        }
    for acl in image.acls.values():
        binding = _binding(acl)
        if isinstance(binding, str):
            plan.skip(f"ACL of {acl.principal} on {acl.resource_name}", binding)
        else:
            plan.acls.append(binding)
    plan.acls.sort(key=str)  # those of a snapshot are in another order
    for key, quotas in sorted(image.quotas.items(), key=lambda one: str(one[0])):
        try:
            entity = quota_entity(dict(key))
            plan.quotas[entity] = altered(entity, {}, quotas)
        except BrokerError as refused:
            plan.skip(f"quota of {dict(key)}", refused.message)
    if image.tokens:
        plan.skip(f"{len(image.tokens)} delegation tokens", "delegation tokens are not served")


def _binding(acl: AccessControlEntryRecord) -> AclBinding | str:
    """A text says why there is none."""
    try:
        binding = AclBinding(
            RESOURCE_TYPES[acl.resource_type],
            acl.resource_name,
            PATTERN_TYPES[acl.pattern_type],
            acl.principal,
            plain_host(acl.host),
            OPERATIONS[acl.operation],
            PERMISSIONS[acl.permission_type],
        )
        check_new(binding)
    except KeyError as unknown:
        return f"number {unknown} is not known"
    except BrokerError as refused:
        return refused.message
    return binding


def plan_configs(plan: Plan, image: ClusterImage) -> None:
    """Of brokers and groups."""
    for (kind, name), configs in sorted(image.configs.items()):
        if kind == TOPIC:
            continue
        if kind not in _KINDS:
            for config in configs:
                what = _NAMES.get(kind, f"resource type {kind}")
                plan.skip(f"config {config} of {what} {name}", "such configs are not served")
            continue
        resource = Resource(_KINDS[kind], name)
        accepted = {}
        for config, value in sorted(configs.items()):
            why = _refusal(resource, config, value)
            if why is None:
                accepted[config] = value
            else:
                plan.skip(f"config {config} of {resource.kind.value} {name or '(all)'}", why)
        if accepted:
            plan.configs[resource] = accepted
        if kind == BROKER and name not in ("", str(BrokerConfig().node_id)):
            plan.notes.append(f"configs of broker {name} have an effect with node.id={name} only")


def _refusal(resource: Resource, config: str, value: str) -> str | None:
    broker = BrokerConfig()
    try:
        if resource.kind is ResourceKind.GROUP:
            if config not in GROUP_CONFIGS:
                return "such groups are not served"
            validate_group_configs({config: value}, broker)
        elif config not in BrokerConfig.definitions:
            return "there is no such setting"
        else:
            validate_broker_configs({config: value}, broker, for_all=not resource.name)
    except BrokerError as refused:
        return refused.message
    return None
