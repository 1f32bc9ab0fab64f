"""What is wrong with a request is said in one clause for each fault, and in no library's words."""

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
        ("/topics/t:clone", {"name": "u", "configs": 7}, CONFIGS),
        ("/topics", {"name": 1, "partitions": "many"}, "name: expected a string; "
         "partitions: expected a whole number"),
        ("/topics", {"name": "u", "nope": 1}, "nope: there is no such field"),
        ("/topics", {"validate_only": "perhaps"}, "topic_name: is missing; "
         "validate_only: expected true or false"),
        ("/topics", {"name": "u", "partitions": 2**31},
         "partitions: expected less than 2147483648"),
        ("/topics", [1, 2], "the body: expected an object"),
        ("/topics", "u", "the body: expected an object"),
        ("/topics", None, "the body: is missing"),
        ("/topics/t/configs:alter", {"data": []}, "data: expected 1 at least"),
        ("/topics/t/configs:alter", {"data": [{"name": "x", "operation": "set"}]},
         "data.0.operation: expected 'SET', 'DELETE', 'APPEND' or 'SUBTRACT'"),
        ("/groups/g/offsets", {"to": "offset", "topic": "t"}, "offset is needed with to='offset'"),
        ("/groups/g/offsets", {"to": "timestamp", "timestamp": "yesterday", "topic": "t"},
         "timestamp: expected milliseconds since 1970, or a time with its zone "
         "as 2026-11-22T05:00:00Z"),
        ("/topics/t:truncate", {"partitions": [{"partition": -1}]},
         "partitions.0.partition: expected 0 or more"),
    ],
)  # fmt: skip
def test_of_a_body(admin: FakeAdmin, path: str, body: Any, message: str) -> None:
    answer = admin.post(path, body)
    assert (answer.status, answer.json["error_code"]) == (422, 42201)
    assert answer.json["message"] == message


@pytest.mark.parametrize(
    "path, message",
    [
        ("/topics?page_size=0", "page_size: expected 1 or more"),
        ("/topics?page_size=x", "page_size: expected a whole number"),
        ("/requestz?errors=7&slow_ms=-1", "errors: expected true or false; "
         "slow_ms: expected 0 or more"),
        ("/topics/t/records?limit=10001", "limit: expected 10000 or less"),
        ("/topics/t/records?order=up", "order: expected 'oldest' or 'newest'"),
        ("/topics/t/records?nope=1", "nope: there is no such parameter"),
        ("/topics?page_size=5&nope", "nope: there is no such parameter"),
        ("/requestz?clientid=x", "clientid: there is no such parameter"),
        ("/healthz?nope=1", "nope: there is no such parameter"),
        ("/groups/g/lags?page_token=a&%C3%A4=1", "ä: there is no such parameter"),
        ("/console/data/topics?nope=1", "nope: there is no such parameter"),
        ("/topics/t/partitions/x", "partition_id: expected a whole number"),
    ],
)  # fmt: skip
def test_of_an_address(admin: FakeAdmin, path: str, message: str) -> None:
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
