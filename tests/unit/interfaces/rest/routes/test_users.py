from __future__ import annotations

import pytest

from domain.security.scram import ScramMechanism
from infrastructure.security.password_hashing import is_password_of_any
from tests.fakes.admin import FakeAdmin, facts

PASSWORD = "PaSs-of-ann-7301"


def is_password(admin: FakeAdmin, name: str, password: str, mechanism: ScramMechanism) -> bool:
    credential = admin.fake.broker.security.users.find(name, mechanism)
    return is_password_of_any(password, [credential])


def test_a_user_is_created_changed_and_deleted(admin: FakeAdmin) -> None:
    created = admin.request("PUT", "/users/ann%2Fb", {"password": PASSWORD})
    assert created.status == 200
    assert facts(created.json, "kind", "user_name") == ("KafkaUser", "ann/b")
    assert created.json["credentials"] == [
        {"mechanism": one.sasl_name, "iterations": 4096} for one in ScramMechanism
    ]
    assert admin.get("/users").json["data"] == [created.json]
    assert admin.get(f"{admin.v3}/users/ann%2Fb").json == created.json
    assert all(is_password(admin, "ann/b", PASSWORD, one) for one in ScramMechanism)

    changed = {"password": "other", "mechanisms": ["SCRAM-SHA-256"], "iterations": 8192}
    assert admin.request("PUT", "/users/ann%2Fb", changed).status == 200
    assert is_password(admin, "ann/b", "other", ScramMechanism.SHA_256)
    assert is_password(admin, "ann/b", PASSWORD, ScramMechanism.SHA_512)

    assert admin.request("DELETE", "/users/ann%2Fb").status == 204
    assert admin.get("/users").json["data"] == []
    assert admin.get("/users/ann%2Fb").json["error_code"] == 40407
    assert admin.request("DELETE", "/users/ann%2Fb").status == 404


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"password": ""},
        {"password": PASSWORD + "x" * 1000},
        {"password": [PASSWORD]},
        {"password": PASSWORD, "iterations": 4095},
        {"password": PASSWORD, "mechanisms": ["PLAIN"]},
        {"password": PASSWORD, "mechanisms": []},
        {"password": PASSWORD, "salt": "00"},
    ],
)
def test_what_cannot_be_a_password_is_refused_without_repeating_it(
    admin: FakeAdmin, body: dict[str, object]
) -> None:
    refused = admin.request("PUT", "/users/ann", body)
    assert refused.status == 422
    assert PASSWORD.encode() not in refused.body
    assert admin.get("/users").json["data"] == []
