"""CreateAcls, DescribeAcls and DeleteAcls."""

from __future__ import annotations

from typing import Any

import pytest

from application.security import acls
from domain.security.access import Operation, ResourceType
from domain.security.acl import PatternType
from tests.fakes.client import FakeKafka
from tests.fakes.secured import SecuredKafka, allowed
from tests.fakes.structs import request_for

TOPIC, GROUP, LITERAL, PREFIXED = 2, 3, 3, 4
ANY, MATCH, READ, WRITE, ALLOW, DENY = 1, 2, 3, 4, 3, 2
VERSIONS = pytest.mark.parametrize("version", [1, 2, 3])


def creation(name: str = "orders", **changes: Any) -> dict[str, Any]:
    return {
        "resource_type": TOPIC,
        "resource_name": name,
        "resource_pattern_type": LITERAL,
        "principal": "User:alice",
        "host": "*",
        "operation": READ,
        "permission_type": ALLOW,
    } | changes


def filtered(**changes: Any) -> dict[str, Any]:
    return {
        "resource_type_filter": ANY,
        "resource_name_filter": None,
        "pattern_type_filter": ANY,
        "principal_filter": None,
        "host_filter": None,
        "operation": ANY,
        "permission_type": ANY,
    } | changes


@VERSIONS
def test_acls_are_created_described_and_deleted(version: int) -> None:
    admin = SecuredKafka().user("admin")
    acls = [
        creation(),
        creation(operation=WRITE, permission_type=DENY, host="10.0.0.1"),
        creation("ord", resource_pattern_type=PREFIXED),
        creation("g", resource_type=GROUP),
    ]
    created = admin.request(request_for("create_acls", creations=acls), version)
    assert [one.error_code for one in created.results] == [0] * 4
    described = admin.request(request_for("describe_acls", **filtered()), version)
    assert [
        (one.resource_type, one.resource_name, one.pattern_type, len(one.acls))
        for one in described.resources
    ] == [(TOPIC, "orders", LITERAL, 2), (TOPIC, "ord", PREFIXED, 1), (GROUP, "g", LITERAL, 1)]
    denied = described.resources[0].acls[1]
    assert (denied.principal, denied.host, denied.operation, denied.permission_type) == (
        *("User:alice", "10.0.0.1"),
        *(WRITE, DENY),
    )
    matching = filtered(
        resource_type_filter=TOPIC, resource_name_filter="orders", pattern_type_filter=MATCH
    )
    deleted = admin.request(
        request_for("delete_acls", filters=[matching, filtered(principal_filter="User:bob")]),
        version,
    )
    assert [
        [(one.resource_name, one.operation) for one in result.matching_acls]
        for result in deleted.filter_results
    ] == [[("orders", READ), ("orders", WRITE), ("ord", READ)], []]
    left = admin.request(request_for("describe_acls", **filtered()), version).resources
    assert [one.resource_name for one in left] == ["g"]


@VERSIONS
@pytest.mark.parametrize(
    "changes",
    [
        {"resource_type": ANY},
        {"resource_pattern_type": ANY},
        {"resource_pattern_type": MATCH},
        {"operation": ANY},
        {"permission_type": ANY},
        {"resource_type": 4},
        {"resource_name": ""},
        {"principal": "alice"},
        {"operation": 99},
    ],
)
def test_an_acl_that_means_nothing_is_refused(changes: dict[str, Any], version: int) -> None:
    admin = SecuredKafka().user("admin")
    request = request_for("create_acls", creations=[creation() | changes, creation()])
    refused, created = admin.request(request, version).results
    assert (refused.error_code, created.error_code) == (42, 0)
    assert refused.error_message


@pytest.mark.parametrize(
    "request_",
    [
        request_for("create_acls", creations=[creation(operation=0)]),
        request_for("describe_acls", **filtered(operation=0)),
        request_for("delete_acls", filters=[filtered(permission_type=0)]),
    ],
)
def test_kafkas_number_of_unknown_values_closes_the_connection(request_: Any) -> None:
    kafka = SecuredKafka()
    admin = kafka.user("admin")
    admin.send(request_, 3)
    kafka.run()
    assert admin.closed and admin.why_closed() == "malformed_request"


def test_a_filter_with_a_number_of_a_later_kafka_finds_nothing() -> None:
    admin = SecuredKafka(allowed(Operation.READ, ResourceType.TOPIC, "orders")).user("admin")
    assert admin.request(request_for("describe_acls", **filtered(operation=99)), 3).resources == []
    filters = [filtered(pattern_type_filter=99), filtered(operation=99), filtered()]
    pattern, operation, found = admin.request(
        request_for("delete_acls", filters=filters), 3
    ).filter_results
    assert (pattern.error_code, pattern.error_message) == (42, "Unknown patternFilter.")
    assert (operation.error_code, operation.error_message) == (42, "Unknown entryFilter.")
    assert len(found.matching_acls) == 1


def test_acls_need_rights_on_the_cluster() -> None:
    kafka = SecuredKafka(allowed(Operation.DESCRIBE, ResourceType.CLUSTER, "kafka-cluster"))
    alice = kafka.user()
    assert alice.request(request_for("describe_acls", **filtered()), 3).error_code == 0
    [refused] = alice.request(request_for("create_acls", creations=[creation()]), 3).results
    assert refused.error_code == 31
    bob = kafka.user("bob")
    assert bob.request(request_for("describe_acls", **filtered()), 3).error_code == 31


def test_a_change_has_an_effect_on_the_next_request() -> None:
    kafka = SecuredKafka()
    kafka.topic("orders")
    admin, alice = kafka.user("admin"), kafka.user()
    request = request_for("metadata", topics=None)
    assert alice.request(request, 12).topics == []
    admin.request(request_for("create_acls", creations=[creation()]), 3)
    assert [one.name for one in alice.request(request, 12).topics] == ["orders"]
    admin.request(request_for("delete_acls", filters=[filtered()]), 3)
    assert alice.request(request, 12).topics == []


def test_without_an_authorizer_the_apis_are_disabled() -> None:
    client = FakeKafka().client()
    assert client.request(request_for("describe_acls", **filtered()), 3).error_code == 54


def test_prefixes_are_patterns() -> None:
    prefixed = allowed(Operation.READ, ResourceType.TOPIC, "ord", PatternType.PREFIXED)
    kafka = SecuredKafka(prefixed)
    for name in ("orders", "other"):
        kafka.topic(name)
    listed = kafka.user().request(request_for("metadata", topics=None), 12).topics
    assert [one.name for one in listed] == ["orders"]


def test_a_request_that_creates_too_many_acls_creates_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acls, "MAX_CREATED", 2)
    admin = SecuredKafka().user("admin")

    def created(*names: str) -> set[tuple[int, str | None]]:
        request = request_for("create_acls", creations=[creation(name) for name in names])
        return {(one.error_code, one.error_message) for one in admin.request(request, 3).results}

    excessive = 44, "Unable to perform excessively large batch operation."
    assert created("a", "b", "c") == {excessive}
    assert admin.request(request_for("describe_acls", **filtered()), 3).resources == []
    assert created("a", "b", "a") == {(0, "")}
    # Those that exist do not count.
    assert created("a", "b", "c", "d") == {(0, "")}
