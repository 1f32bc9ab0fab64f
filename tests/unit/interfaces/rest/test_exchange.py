from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from tests.fakes.admin import FakeAdmin


def recent(admin: FakeAdmin, query: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = admin.get(f"/requestz?{query}").json["data"]
    return rows


def test_http_requests_are_among_the_recent_requests() -> None:
    admin = FakeAdmin()
    headers = {"x-correlation-id": "order-17", "user-agent": "curl/8"}
    assert admin.request("POST", "/topics", {"name": "t"}, headers).status == 201
    [one] = recent(admin, "correlation_id=order-17")
    assert abs(datetime.fromisoformat(one["time"]).timestamp() - time.time()) < 60, "as of Kafka's"
    assert (one["api"], one["version"], one["software"]) == ("POST /topics", None, "curl/8")
    assert (one["listener"], one["path"], one["errors"]) == ("admin", "/topics", [])
    assert one["handle_us"] == one["total_us"]
    admin.get("/topics/none")
    [failed, _] = recent(admin, "api=http")
    assert (failed["api"], failed["topic"]) == ("GET /topics/{topic_name}", "none")
    assert (failed["errors"], failed["error_codes"]) == (["HTTP 404"], [40403])
    [same] = recent(admin, "topic=none&errors=true")
    assert same["correlation_id"] == failed["correlation_id"]


def test_polls_of_the_console_and_of_monitoring_are_not_unless_they_fail() -> None:
    admin = FakeAdmin()
    for path in ("/", "/console/main.js", "/console/data/overview", "/healthz", "/history"):
        assert admin.get(path).status == 200
    assert admin.get("/console/none.js").status == 404
    assert [one["path"] for one in recent(admin, "")] == ["/console/none.js"]


def test_a_part_of_a_request_that_is_refused_is_an_error() -> None:
    admin = FakeAdmin()
    admin.fake.topic("t")
    entry = {"id": "1", "value": {"type": "STRING", "data": "x"}, "partition_id": 7}
    assert admin.post("/topics/t/records:batch", {"entries": [entry]}).status == 207
    [one] = recent(admin, "")
    assert one["errors"] == ["1 refused"]
    assert one["error_codes"]
