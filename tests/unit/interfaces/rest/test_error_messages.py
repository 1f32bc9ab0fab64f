"""The error code of each invalid request, and the exact sentence where it is one of REST itself."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.admin import FakeAdmin
from tests.fakes.classic_members import join_all
from tests.fakes.client import FakeKafka
from tests.fakes.mixed_group import classic
from tests.fakes.offset_requests import at, commit

CONFIGS = 'configs: expected an object of names and values, or an array of {"name", "value"}'


@pytest.fixture
def admin() -> FakeAdmin:
    """Topic t with two partitions; group g with committed offsets, group m with a member."""
    kafka = FakeKafka()
    kafka.topic("t", 2)
    commit(kafka.client(), "g", ("t", [at(0, 0)]))
    commit(kafka.client(), "m", ("t", [at(0, 0)]))
    join_all(classic(kafka, group_id="m"))
    return FakeAdmin(kafka)


@pytest.mark.parametrize(
    "method, path, body, code",
    [
        ("GET", "/nowhere", None, 404),
        ("GET", "/topics/", None, 404),
        ("GET", "/v3/other", None, 404),
        ("POST", "/topics", [1, 2], 42201),
        # Unknown resources
        ("GET", "/topics/u", None, 40403),
        ("DELETE", "/topics/u", None, 40403),
        ("PATCH", "/topics/u", {"partitions_count": 2}, 40403),
        ("GET", "/topics/u/partitions/0", None, 40403),
        ("GET", "/topics/u/partitions/-/reassignment", None, 40403),
        ("GET", "/topics/t/partitions/2", None, 40403),
        ("GET", "/topics/t/partitions/one", None, 42201),
        ("GET", "/topics/t/partitions/0/replicas/2", None, 40411),
        ("GET", "/topics/u/configs", None, 40403),
        ("PUT", "/topics/u/configs/retention.ms", {"value": "1"}, 40403),
        ("GET", "/topics/t/configs/no.such", None, 40407),
        ("DELETE", "/topics/t/configs/no.such", None, 40407),
        ("GET", "/brokers/2", None, 40411),
        ("GET", "/brokers/2/configs", None, 40411),
        ("GET", "/brokers/2/partition-replicas", None, 40411),
        ("DELETE", "/brokers/1/configs/no.such", None, 40407),
        ("GET", "/broker-configs/num.partitions", None, 40407),
        ("DELETE", "/broker-configs/no.such", None, 40407),
        ("GET", "/v3/clusters/other", None, 40410),
        ("GET", "/v3/clusters/other/topics", None, 40410),
        ("GET", "/topics/u/records", None, 40403),
        ("GET", "/topics/u/records:tail", None, 40403),
        ("GET", "/topics/u/records:download", None, 40403),
        ("POST", "/topics/u/records", {"value": "x"}, 40403),
        ("POST", "/topics/u:truncate", {}, 40403),
        ("POST", "/topics:truncate", {"topic_names": ["t", "u"]}, 40403),
        ("POST", "/topics/u:clone", {"topic_name": "other"}, 40403),
        ("POST", "/topics/t:clone", {"topic_name": "t"}, 40002),
        ("GET", "/console/data/partitions?topic=u", None, 40403),
        ("GET", "/console/data/groups/a%2Fb", None, 40404),
        ("GET", "/groups/h", None, 40404),
        ("DELETE", "/groups/h", None, 40404),
        ("GET", "/groups/m/consumers/x", None, 40406),
        ("GET", "/groups/g/lags/t/partitions/7", None, 40408),
        # Topics
        ("POST", "/topics", {"name": "t"}, 40002),
        ("POST", "/topics", {"name": "a/b"}, 40002),
        ("POST", "/topics", {"name": "__consumer_offsets"}, 40002),
        ("POST", "/topics", {"name": "u", "partitions": 0}, 40002),
        ("POST", "/topics", {"name": "u", "replication_factor": 3}, 40002),
        ("POST", "/topics", {"name": "u", "configs": {"no.such": 1}}, 40002),
        ("POST", "/topics/t:truncate", {"before_offset": 1, "partitions": []}, 40002),
        ("POST", "/topics/t:truncate", {"partitions": [{"partition_id": -1}]}, 42201),
        ("POST", "/topics/t:truncate", {"partitions": [{"partition_id": 2**31}]}, 42201),
        ("POST", "/topics/t:truncate", {"\ud800": 1}, 42201),
        ("POST", "/topics/t:truncate?validate_only=true", None, 42201),
        ("POST", "/topics/t/records:batch", {"entries": []}, 42206),
        ("POST", "/topics/t/records:batch", {"entries": [{}]}, 42206),
        ("POST", "/topics/t/records:batch", {"entries": [{"id": ""}]}, 42206),
        ("POST", "/topics/t/records:batch", {"entries": [{"id": "a"}, {"id": "a"}]}, 42206),
        ("POST", "/topics/t/records:batch", {"entries": "x"}, 42206),
        # Groups
        ("DELETE", "/groups/m", None, 40903),
        ("POST", "/groups/m/offsets", {"to": "earliest"}, 40903),
        ("POST", "/groups/h/offsets", {"to": "latest"}, 40404),
        ("POST", "/groups/g/offsets", {"to": "latest", "topic": "u"}, 40403),
        ("POST", "/groups/g/offsets", {"to": "latest", "topic": "t", "partitions": [2]}, 40403),
        ("POST", "/groups/g/offsets", {"to": "latest", "topic": "t", "partitions": []}, 42201),
        ("POST", "/groups/g/offsets", {"to": "latest", "partitions": [0]}, 40002),
        ("POST", "/groups/g/offsets", {}, 42201),
        ("POST", "/groups/g/offsets", {"to": "offset", "offset": -1}, 42201),
        ("POST", "/groups/g/offsets", {"to": "tomorrow"}, 42201),
    ],
)  # fmt: skip
def test_each_invalid_request_has_its_error_code(
    admin: FakeAdmin, method: str, path: str, body: Any, code: int
) -> None:
    response = admin.request(method, path, body)
    assert response.json.keys() == {"error_code", "message", "correlation_id"}
    assert response.json["error_code"] == code
    assert response.status == (code if code < 1000 else code // 100)
    assert response.json["message"]
    assert response.json["correlation_id"] == response.headers["x-correlation-id"]
    assert [topic.name for topic in admin.fake.broker.catalog] == ["t"]


@pytest.mark.parametrize(
    "method, path, body, message",
    [
        ("POST", "/topics", {"name": "u", "configs": 1}, CONFIGS),
        ("PATCH", "/topics/t", {"configs": {"cleanup.policy": ["compact", "delete"]}},
         'configs: the value of cleanup.policy must be a string (a list is "a,b"), a number or a '
         "boolean"),
        ("POST", "/topics", {"name": "u", "configs": [{"value": 1}]}, CONFIGS),
        ("POST", "/topics", {"name": 1, "partitions": "many"}, "name: must be a valid string; "
         "partitions: must be a valid integer, unable to parse string as an integer"),
        ("POST", "/topics", {"name": "u", "nope": 1}, "unknown field nope"),
        ("POST", "/topics", {}, "name is required"),
        ("POST", "/topics", None, "the body is required"),
        ("POST", "/topics/t:clone", {}, "name is required"),
        ("POST", "/topics/t/configs:alter", {"data": [{"name": "x", "operation": "set"}]},
         "data.0.operation: must be 'SET', 'DELETE', 'APPEND' or 'SUBTRACT'"),
        ("POST", "/groups/g/offsets", {"to": "offset", "topic": "t"},
         'offset is required if "to" is "offset"'),
        ("POST", "/groups/g/offsets", {"to": "latest", "offset": 3},
         'offset is only allowed if "to" is "offset"'),
        ("POST", "/groups/g/offsets", {"to": "timestamp", "timestamp": "yesterday", "topic": "t"},
         "timestamp: expected milliseconds since 1970, or a time as 2026-11-22T05:00:00Z"),
        ("GET", "/topics?page_size=0", None, "page_size: must be greater than or equal to 1"),
        ("GET", "/topics/t/records?order=up", None, "order: must be 'oldest' or 'newest'"),
        ("GET", "/topics/t/records?nope=1", None, "unknown parameter nope"),
        ("GET", "/topics?page_size=5&nope", None, "unknown parameter nope"),
        ("GET", "/requestz?clientid=x", None, "unknown parameter clientid"),
        ("GET", "/healthz?nope=1", None, "unknown parameter nope"),
        ("GET", "/groups/g/lags?page_token=a&%C3%A4=1", None, "unknown parameter ä"),
        ("GET", "/console/data/topics?nope=1", None, "unknown parameter nope"),
    ],
)  # fmt: skip
def test_messages_for_invalid_bodies_and_queries(
    admin: FakeAdmin, method: str, path: str, body: Any, message: str
) -> None:
    response = admin.request(method, path, body)
    assert (response.status, response.json["error_code"]) == (422, 42201)
    assert response.json["message"] == message


def test_each_route_accepts_only_its_parameters(admin: FakeAdmin) -> None:
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
