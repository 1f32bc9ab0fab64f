from __future__ import annotations

import pytest

from tests.fakes.admin import FakeAdmin, facts
from tests.fakes.secured import SecuredKafka

READ = {
    "resource_type": "TOPIC",
    "resource_name": "orders",
    "pattern_type": "LITERAL",
    "principal": "User:alice",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
}
DENY = READ | {"resource_name": "or", "pattern_type": "PREFIXED", "permission": "DENY"}


@pytest.fixture
def admin() -> FakeAdmin:
    return FakeAdmin(SecuredKafka(super_users="User:admin;User:ANONYMOUS"))


def test_an_acl_is_created_found_and_deleted(admin: FakeAdmin) -> None:
    created = admin.post("/acls", {k: v for k, v in READ.items() if k != "host"})
    assert created.status == 201
    assert facts(created.json, *READ) == tuple(READ.values())
    assert admin.post(f"{admin.v3}/acls", DENY).status == 201
    again = admin.post("/acls", READ)
    assert (again.status, again.json) == (201, created.json)

    def found(query: str) -> list[str]:
        response = admin.get(f"/acls{query}")
        assert response.json["kind"] == "KafkaAclList"
        return sorted(one["resource_name"] for one in response.json["data"])

    assert found("?principal=User:alice") == ["or", "orders"]
    assert found("?resource_name=orders") == ["orders"]
    assert found("?resource_name=orders&pattern_type=MATCH") == ["or", "orders"]
    assert found("?permission=DENY&operation=ANY") == ["or"]
    assert found("?operation=WRITE&resource_type=TOPIC") == []

    deleted = admin.request("DELETE", "/acls?permission=DENY")
    assert [one["resource_name"] for one in deleted.json["data"]] == ["or"]
    assert found("?principal=User:alice") == ["orders"]
    assert admin.request("DELETE", "/acls").status == 422
    assert admin.request("DELETE", "/acls?permission=MAYBE").status == 422


@pytest.mark.parametrize(
    "change",
    [
        {"operation": "FLY"},
        {"resource_name": ""},
        {"principal": "alice"},
        {"resource_type": "CLUSTER"},
        {"pattern_type": "MATCH"},
        {"unknown": "field"},
    ],
)
def test_an_acl_that_cannot_be_is_refused(admin: FakeAdmin, change: dict[str, str]) -> None:
    assert admin.post("/acls", READ | change).status in (400, 422)
    assert admin.get("/acls?principal=User:alice").json["data"] == []


def test_a_question_gets_the_decision_and_its_reason(admin: FakeAdmin) -> None:
    admin.post("/acls", READ)
    names = ("principal", "operation", "resource_type", "resource_name")
    question = {name: READ[name] for name in names}

    def asked(**change: str) -> tuple[bool, str]:
        decision = admin.post("/acls:test", question | change).json
        assert (decision["acl"] is None) == (decision["reason"] != "this ACL decides")
        return decision["allowed"], decision["reason"]

    assert asked() == (True, "this ACL decides")
    assert asked(operation="DESCRIBE") == (True, "this ACL decides")
    assert asked(operation="WRITE") == (False, "no ACL allows User:alice Write of orders")
    assert asked(principal="User:admin", operation="WRITE") == (
        True,
        "User:admin is in super.users",
    )
    admin.post("/acls", DENY)
    assert asked() == (False, "this ACL decides")


def test_without_an_authorizer_there_are_no_acls() -> None:
    admin = FakeAdmin()
    for response in (admin.get("/acls"), admin.post("/acls", READ)):
        assert response.status == 400
        assert "authorizer.class.name" in response.json["message"]
