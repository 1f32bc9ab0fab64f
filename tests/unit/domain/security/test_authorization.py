"""The rules of Kafka's StandardAuthorizer."""

from __future__ import annotations

from typing import Any

import pytest

from domain.security.access import Operation, ResourceType
from domain.security.acl import AclBinding, PatternType, Permission
from domain.security.authorization import AclIndex
from domain.security.principal import Principal

TOPIC = ResourceType.TOPIC
LITERAL, PREFIXED = PatternType
DENY, ALLOW = Permission
READ, WRITE, DESCRIBE = Operation.READ, Operation.WRITE, Operation.DESCRIBE
ALICE = Principal("User", "alice")
HOST = "10.0.0.1"


def acl(
    permission: Permission = ALLOW,
    operation: Operation = READ,
    name: str = "orders",
    pattern: PatternType = LITERAL,
    **changes: Any,
) -> AclBinding:
    binding = AclBinding(TOPIC, name, pattern, "User:alice", "*", operation, permission)
    return binding._replace(**changes)


def index(*bindings: AclBinding, **settings: Any) -> AclIndex:
    made = AclIndex(**settings)
    made.add(bindings)
    return made


def may(
    *bindings: AclBinding, operation: Operation = READ, name: str = "orders", **settings: Any
) -> bool:
    return index(*bindings, **settings).allows(ALICE, HOST, operation, TOPIC, name)


@pytest.mark.parametrize(
    "binding",
    [
        acl(),
        acl(operation=Operation.ALL),
        acl(name="*"),
        acl(name="ord", pattern=PREFIXED),
        acl(principal="User:*"),
        acl(host=HOST),
    ],
)
def test_an_acl_allows_what_it_covers(binding: AclBinding) -> None:
    assert may(binding)


@pytest.mark.parametrize(
    "binding",
    [
        acl(operation=WRITE),
        acl(name="order"),
        acl(name="orders2", pattern=PREFIXED),
        acl(principal="User:bob"),
        acl(principal="Group:*"),
        acl(host="10.0.0.2"),
        acl(resource_type=ResourceType.GROUP),
    ],
)
def test_an_acl_allows_nothing_else(binding: AclBinding) -> None:
    assert not may(binding)


@pytest.mark.parametrize("denied", [acl(DENY), acl(DENY, name="o", pattern=PREFIXED)])
def test_a_denial_wins(denied: AclBinding) -> None:
    assert not may(acl(), acl(name="*"), denied)
    assert not may(denied, super_users=["User:bob"])
    assert may(denied, super_users=["User:alice"])


@pytest.mark.parametrize("granted", [READ, WRITE, Operation.DELETE, Operation.ALTER])
def test_use_of_a_resource_implies_describe_but_its_denial_does_not(granted: Operation) -> None:
    assert may(acl(operation=granted), operation=DESCRIBE)
    assert may(acl(operation=DESCRIBE), acl(DENY, granted), operation=DESCRIBE)
    assert not may(acl(operation=DESCRIBE), operation=granted)


def test_alter_configs_implies_describe_configs() -> None:
    allowed = acl(operation=Operation.ALTER_CONFIGS)
    assert may(allowed, operation=Operation.DESCRIBE_CONFIGS)
    assert not may(allowed, operation=DESCRIBE)
    assert not may(acl(operation=Operation.CREATE), operation=DESCRIBE)


def test_without_any_acl_of_the_resource_the_setting_decides() -> None:
    assert not may()
    assert may(allowed_without_acl=True)
    assert not may(acl(principal="User:bob"), allowed_without_acl=True)
    assert may(acl(name="others"), allowed_without_acl=True)


def test_an_ipv6_host_may_be_written_as_java_does() -> None:
    rules = index(acl(host="0:0:0:0:0:0:0:1"))
    assert rules.allows(ALICE, "::1", READ, TOPIC, "orders")


def test_a_removed_acl_has_no_effect() -> None:
    rules = index(acl(), acl(name="ord", pattern=PREFIXED))
    rules.remove(acl(name="ord", pattern=PREFIXED))
    assert not rules.allows(ALICE, HOST, READ, TOPIC, "ord")
    rules.remove(acl())
    rules.remove(acl())
    assert not rules.allows(ALICE, HOST, READ, TOPIC, "orders")
    assert len(rules) == 0


@pytest.mark.parametrize(
    ("bindings", "allowed"),
    [
        ([], False),
        ([acl()], True),
        ([acl(operation=Operation.ALL)], True),
        # Kafka does not look for implied operations here.
        ([acl(operation=WRITE)], False),
        ([acl(name="ord", pattern=PREFIXED)], True),
        ([acl(), acl(DENY, name="*")], False),
        ([acl(), acl(DENY)], False),
        ([acl(), acl(DENY, name="orders2")], True),
        ([acl(), acl(DENY, name="ord", pattern=PREFIXED)], False),
        ([acl(name="ord", pattern=PREFIXED), acl(DENY, name="o", pattern=PREFIXED)], False),
        ([acl(name="ord", pattern=PREFIXED), acl(DENY, name="ord")], True),
        ([acl(name="*"), acl(DENY, name="o", pattern=PREFIXED)], True),
        ([acl(principal="User:bob")], False),
    ],
)
def test_any_resource_unless_a_denial_dominates(bindings: list[AclBinding], allowed: bool) -> None:
    rules = index(*bindings)
    assert rules.allows_any(ALICE, HOST, READ, TOPIC) is allowed
    assert index(*bindings, super_users=["User:alice"]).allows_any(ALICE, HOST, READ, TOPIC)
