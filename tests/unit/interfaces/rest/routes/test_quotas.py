from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.admin import FakeAdmin


def alter(admin: FakeAdmin, entity: Any, quotas: Any, **more: Any) -> int:
    body = {"data": [{"entity": entity, "quotas": quotas}], **more}
    return admin.post("/quotas:alter", body).status


def test_quotas_are_set_listed_and_removed(admin: FakeAdmin) -> None:
    both = {"user": "alice", "client_id": "app"}
    assert alter(admin, both, {"producer_byte_rate": 1000, "request_percentage": 50.5}) == 204
    assert alter(admin, {"user": None}, {"consumer_byte_rate": 2000}) == 204
    assert alter(admin, {"ip": "10.0.0.1"}, {"connection_creation_rate": 5}) == 204

    def found(query: str = "") -> list[Any]:
        return [(one["entity"], one["quotas"]) for one in admin.get(f"/quotas{query}").json["data"]]

    of_both = (both, {"producer_byte_rate": 1000.0, "request_percentage": 50.5})
    assert found("?user=alice") == [of_both]
    assert len(found()) == 3
    assert ({"user": None}, {"consumer_byte_rate": 2000.0}) in found()
    assert found("?ip=10.0.0.1") == [({"ip": "10.0.0.1"}, {"connection_creation_rate": 5.0})]

    assert alter(admin, both, {"producer_byte_rate": None, "request_percentage": None}) == 204
    assert found("?user=alice") == []


@pytest.mark.parametrize(
    ("entity", "quotas"),
    [
        ({}, {"producer_byte_rate": 1}),
        ({"group": "g"}, {"producer_byte_rate": 1}),
        ({"user": ""}, {"producer_byte_rate": 1}),
        ({"user": "a", "ip": "10.0.0.1"}, {"producer_byte_rate": 1}),
        ({"user": "a"}, {"connection_creation_rate": 1}),
        ({"user": "a"}, {"producer_byte_rate": 0}),
        ({"user": "a"}, {"producer_byte_rate": 1.5}),
        ({"user": "a"}, {}),
    ],
)
def test_an_impossible_quota_alters_none(admin: FakeAdmin, entity: Any, quotas: Any) -> None:
    good = {"entity": {"user": "b"}, "quotas": {"producer_byte_rate": 1}}
    refused = admin.post("/quotas:alter", {"data": [good, {"entity": entity, "quotas": quotas}]})
    assert refused.status in (400, 422)
    assert admin.get("/quotas").json["data"] == []


def test_a_validation_alters_nothing(admin: FakeAdmin) -> None:
    assert alter(admin, {"user": "a"}, {"producer_byte_rate": 1}, validate_only=True) == 204
    assert admin.get("/quotas").json["data"] == []
