"""Which ACLs a filter finds, and which may be created."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import InvalidRequest
from domain.security.access import Operation, ResourceType
from domain.security.acl import (
    AclBinding,
    AclFilter,
    PatternType,
    Permission,
    check_new,
    plain_host,
)

TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
LITERAL, PREFIXED = PatternType


def acl(name: str = "orders", pattern: PatternType = LITERAL, **changes: Any) -> AclBinding:
    binding = AclBinding(TOPIC, name, pattern, "User:alice", "*", Operation.READ, Permission.ALLOW)
    return binding._replace(**changes)


ORDERS, ORD, EVERY, OTHER = acl(), acl("ord", PREFIXED), acl("*"), acl("others")
OF_GROUP = acl(resource_type=GROUP)
ALL = (ORDERS, ORD, EVERY, OTHER, OF_GROUP)


@pytest.mark.parametrize(
    ("filtered", "found"),
    [
        (AclFilter(), set(ALL)),
        (AclFilter(TOPIC), {ORDERS, ORD, EVERY, OTHER}),
        (AclFilter(TOPIC, "orders"), {ORDERS}),
        (AclFilter(TOPIC, "orders", matches_resources=True), {ORDERS, ORD, EVERY}),
        (AclFilter(TOPIC, "or", matches_resources=True), {EVERY}),
        (AclFilter(resource_name="ord"), {ORD}),
        (AclFilter(resource_name="ord", pattern_type=LITERAL), set()),
        (AclFilter(pattern_type=PREFIXED), {ORD}),
        (AclFilter(principal="User:bob"), set()),
        (AclFilter(operation=Operation.ALL), set()),
        (AclFilter(host="127.0.0.1"), set()),
        (AclFilter(permission=Permission.DENY), set()),
    ],
)
def test_a_filter_finds_equal_fields_and_matching_resources(
    filtered: AclFilter, found: set[AclBinding]
) -> None:
    assert {one for one in ALL if filtered.matches(one)} == found


@pytest.mark.parametrize(
    ("binding", "message"),
    [
        (acl(resource_type=CLUSTER), "The only valid name for the CLUSTER resource is kafka-clust"),
        (acl(""), "Invalid empty resource name"),
        (acl(principal="alice"), "Could not parse principal from `alice` (no colon is present"),
    ],
)
def test_an_acl_without_a_meaning_is_refused(binding: AclBinding, message: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        check_new(binding)
    assert refusal.value.message.startswith(message)


def test_ipv6_addresses_have_one_notation() -> None:
    assert plain_host("0:0:0:0:0:0:0:1") == plain_host("::1") == "::1"
    assert plain_host("10.0.0.1") == "10.0.0.1"
    assert plain_host("no:address") == "no:address"
