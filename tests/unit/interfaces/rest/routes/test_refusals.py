"""Errors in a response with a status of success are logged with its correlation id."""

from __future__ import annotations

import json
from typing import Any

import pytest

from application.records.clone import Copying
from domain.errors import StorageFailed
from infrastructure.observability.request_log import StructuredRequestLog
from tests.fakes.admin import FakeAdmin, RestResponse
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker

ID = "find-me-17"


@pytest.fixture
def some() -> FakeAdmin:
    """It logs what fails, as by default."""
    fake = FakeBroker(None)
    admin = FakeAdmin(fake, request_log=StructuredRequestLog(fake.events, "errors", 0, 1))
    admin.fake.topic("t")
    admin.fake.appended(record_batch([("k", "v", [], 1)]))
    admin.fake.events.lines.clear()
    return admin


def post(admin: FakeAdmin, path: str, raw: bytes) -> RestResponse:
    return admin.request("POST", path, raw=raw, headers={"x-correlation-id": ID})


def logged(admin: FakeAdmin) -> dict[str, Any]:
    [(level, event, fields)] = admin.fake.events.lines
    assert (level, event, fields["correlation_id"]) == ("warning", "request", ID)
    return fields


def test_refused_records_of_a_stream(some: FakeAdmin) -> None:
    raw = b'{"value":"a"}{"partition_id":9}{"partition_id":8}{"nope":1} nonsense'
    response = post(some, "/topics/t/records", raw)
    reports = [json.loads(line) for line in response.body.splitlines()]
    assert [one["error_code"] for one in reports] == [200, 40403, 40403, 42206, 40001]
    assert [one.get("correlation_id") for one in reports] == [None, ID, ID, ID, ID]
    fields = logged(some)
    assert (fields["status"], fields["refused"]) == (200, 4)
    assert fields["error_codes"] == [40001, 40403, 42206]


def test_refused_entries_of_a_batch(some: FakeAdmin) -> None:
    response = post(some, "/topics/t/records:batch", b'{"entries":[{"id":"a","partition_id":9}]}')
    [failure] = response.json["failures"]
    assert (failure["id"], failure["correlation_id"]) == ("a", ID)
    fields = logged(some)
    assert (fields["status"], fields["error_codes"]) == (207, [40403])


def test_partitions_that_are_not_truncated(some: FakeAdmin) -> None:
    raw = b'{"partitions":[{"partition_id":9},{"partition_id":0,"offset":99}]}'
    results = post(some, "/topics/t:truncate", raw).json["partitions"]
    assert [one["correlation_id"] for one in results] == [ID, ID]
    assert logged(some)["error_codes"] == [40003, 40403]


def test_a_clone_that_fails_halfway(some: FakeAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = Copying.next

    def broken(copying: Copying) -> Any:
        some.fake.log.failing = StorageFailed("the disk is broken")
        return go_on(copying)

    monkeypatch.setattr(Copying, "next", broken)
    response = post(some, "/topics/t:clone", b'{"name":"half","records":true}')
    assert response.status == 200
    assert response.json == {
        "error_code": 50301, "message": "the disk is broken", "correlation_id": ID, "done": False,
    }  # fmt: skip
    lines = [fields for _, event, fields in some.fake.events.lines if event == "request"]
    assert [(one["correlation_id"], one["error_codes"]) for one in lines] == [(ID, [50301])]


def test_a_success_is_not_logged(some: FakeAdmin) -> None:
    assert post(some, "/topics/t/records", b'{"value":"a"}').json["error_code"] == 200
    assert some.fake.events.lines == []
