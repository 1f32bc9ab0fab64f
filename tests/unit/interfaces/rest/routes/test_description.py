"""The OpenAPI description, which clients are generated from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from runpy import run_path
from typing import Any

import pytest

from interfaces.rest.serving import docs
from interfaces.rest.urls import V3
from tests.fakes.admin import FakeAdmin
from tests.fakes.batches import record_batch
from tests.fakes.http_users import add_user, basic
from tests.fakes.offset_requests import at, commit
from tests.fakes.secured import SecuredKafka

DESCRIPTION = docs.openapi()


def operations() -> Iterator[Any]:
    for path, methods in DESCRIPTION["paths"].items():
        for method, operation in methods.items():
            yield pytest.param(operation, id=f"{method.upper()} {path}")


def test_a_broker_serves_what_the_command_prints(
    admin: FakeAdmin, capsys: pytest.CaptureFixture[str]
) -> None:
    run_path(docs.__file__, run_name="__main__")
    assert json.loads(capsys.readouterr().out) == admin.get("/openapi.json").json


@pytest.mark.parametrize("operation", [*operations()])
def test_each_operation_has_a_summary_responses_and_errors(operation: Any) -> None:
    assert operation["summary"]
    assert any(status.startswith("2") for status in operation["responses"])
    for errors in ("4XX", "5XX"):
        schema = operation["responses"][errors]["content"]["application/json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/ErrorBody"}


def bodies() -> Iterator[Any]:
    for path, methods in DESCRIPTION["paths"].items():
        for method, operation in methods.items():
            if "requestBody" in operation and not path.startswith(f"{V3}/"):
                content = operation["requestBody"]["content"]["application/json"]
                yield pytest.param(method.upper(), path, content, id=f"{method.upper()} {path}")


@pytest.mark.parametrize("method, path, content", [*bodies()])
def test_the_example_of_each_body_fits_its_schema_and_is_accepted(
    method: str, path: str, content: Any
) -> None:
    from jsonschema_rs import validator_for

    schema = content["schema"] | {"components": DESCRIPTION["components"]}
    [body, *_] = schema.get("anyOf", [schema])
    name = body.get("$ref", "").rpartition("/")[2]
    described = DESCRIPTION["components"]["schemas"].get(name, schema)
    [example] = described["examples"]
    validator_for(schema).validate(example)

    kafka = SecuredKafka(super_users="User:alice", admin_authentication="users")
    add_user(kafka, "alice", "a secret")
    kafka.topic("orders", 3)
    for index in range(3):
        kafka.appended(record_batch(["a", "b"]), "orders", index)
    commit(kafka.client(), "invoices", ("orders", [at(0, 1)]))
    names = {"topic_name": "orders", "group_id": "invoices", "broker_id": 1, "user_name": "alice"}
    path = path.format(**names, name="min.insync.replicas")
    response = FakeAdmin(kafka).request(method, path, example, basic("alice", "a secret"))
    assert 200 <= response.status < 300, response
    assert b'"message"' not in response.body, "a record or partition is refused"


def test_names_of_operations_are_unique() -> None:
    names = [operation.values[0]["operationId"] for operation in operations()]
    assert sorted(set(names)) == sorted(names)


def test_each_path_of_a_cluster_is_the_same_as_its_short_path() -> None:
    paths = DESCRIPTION["paths"]
    twins = [path for path in paths if path.startswith(f"{V3}/")]
    assert len(twins) > 30
    for path in twins:
        short = path.removeprefix(V3).replace("/consumer-groups", "/groups")
        assert [_bare(each) for each in paths[path].items()] == [
            _bare(each) for each in paths[short].items()
        ]


def _bare(method: tuple[str, Any]) -> tuple[str, Any]:
    """Without the cluster's id and the operation's name, which differ."""
    name, operation = method
    others = [one for one in operation.get("parameters", ()) if one["name"] != "cluster_id"]
    return name, {**operation, "operationId": "", "parameters": others}
