"""Errors in a response with a status of success are logged with its correlation id."""

from __future__ import annotations

from typing import Any

import pytest

from application.records.clone import Copying
from domain.errors import StorageFailed
from infrastructure.observability.request_log import StructuredRequestLog
from tests.fakes.admin import FakeAdmin, RestResponse, facts
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


@pytest.mark.parametrize(
    "path, raw, status, reported, codes",
    [
        ("/topics/t/records",
         b'{"value":"a"}{"partition_id":9}{"partition_id":8}{"nope":1} nonsense',
         200, 4, [40001, 40403, 42206]),
        ("/topics/t/records:batch", b'{"entries":[{"id":"a","partition_id":9}]}', 207, 1, [40403]),
        ("/topics/t:truncate", b'{"partitions":[{"partition_id":9},{"partition_id":0,"offset":9}]}',
         200, 2, [40003, 40403]),
    ],
)  # fmt: skip
def test_each_refused_element_has_the_correlation_id_and_its_code_is_logged(
    some: FakeAdmin, path: str, raw: bytes, status: int, reported: int, codes: list[int]
) -> None:
    response = post(some, path, raw)
    assert response.body.count(f'"correlation_id":"{ID}"'.encode()) == reported
    [(level, event, fields)] = some.fake.events.lines
    assert (level, event, fields["correlation_id"]) == ("warning", "request", ID)
    assert facts(fields, "status", "error_codes") == (status, codes)
    assert response.status == status
    assert fields.get("refused", reported) == reported


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
