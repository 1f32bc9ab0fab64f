"""The messages for bodies and queries that are not valid, one clause for each fault."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.admin import FakeAdmin

CONFIGS = 'configs: expected an object of names and values, or an array of {"name", "value"}'


@pytest.fixture(autouse=True)
def topic(admin: FakeAdmin) -> None:
    admin.fake.topic("t")


@pytest.mark.parametrize(
    "path, body, message",
    [
        ("/topics", {"name": "u", "configs": {"x": {}}}, CONFIGS),
        ("/topics", {"name": "u", "configs": [{"value": 1}]}, CONFIGS),
        ("/topics", {"name": 1, "partitions": "many"}, "name: expected a valid string; "
         "partitions: expected a valid integer, unable to parse string as an integer"),
        ("/topics", {"name": "u", "nope": 1}, "unknown field nope"),
        ("/topics", {}, "topic_name: Field required"),
        ("/topics", None, "the body: Field required"),
        ("/topics/t/configs:alter", {"data": [{"name": "x", "operation": "set"}]},
         "data.0.operation: expected 'SET', 'DELETE', 'APPEND' or 'SUBTRACT'"),
        ("/groups/g/offsets", {"to": "offset", "topic": "t"},
         "the body: offset is needed with to='offset'"),
        ("/groups/g/offsets", {"to": "timestamp", "timestamp": "yesterday", "topic": "t"},
         "timestamp: expected milliseconds since 1970, or a time as 2026-11-22T05:00:00Z"),
    ],
)  # fmt: skip
def test_of_a_body(admin: FakeAdmin, path: str, body: Any, message: str) -> None:
    answer = admin.post(path, body)
    assert (answer.status, answer.json["error_code"]) == (422, 42201)
    assert answer.json["message"] == message


@pytest.mark.parametrize(
    "path, message",
    [
        ("/topics?page_size=0", "page_size: expected greater than or equal to 1"),
        ("/topics/t/records?order=up", "order: expected 'oldest' or 'newest'"),
        ("/topics/t/records?nope=1", "unknown parameter nope"),
        ("/topics?page_size=5&nope", "unknown parameter nope"),
        ("/requestz?clientid=x", "unknown parameter clientid"),
        ("/healthz?nope=1", "unknown parameter nope"),
        ("/groups/g/lags?page_token=a&%C3%A4=1", "unknown parameter ä"),
        ("/console/data/topics?nope=1", "unknown parameter nope"),
    ],
)  # fmt: skip
def test_of_a_query(admin: FakeAdmin, path: str, message: str) -> None:
    answer = admin.get(path)
    assert (answer.status, answer.json["error_code"]) == (422, 42201)
    assert answer.json["message"] == message


def test_each_route_knows_its_parameters(admin: FakeAdmin) -> None:
    for path in (
        "/topics?page_size=5&page_token=a",
        f"{admin.v3}/topics?page_size=5",
        f"{admin.v3}/topics/t/records?limit=5&partition=0&partition=0",
        "/requestz?errors=true&slow_ms=1&limit=3&api=Fetch&client_id=x&correlation_id=1",
        "/console/data/partitions?topic=t",
        "/?what=ever",
    ):
        assert admin.get(path).status == 200, path
    assert admin.get(f"{admin.v3}/topics?nope=1").status == 422
    assert admin.post("/topics/t:truncate?validate_only=true").status == 422
