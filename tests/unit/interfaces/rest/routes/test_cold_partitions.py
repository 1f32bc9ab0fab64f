"""Requests that use a partition for the first time do not wait for the store on the loop."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interfaces.rest.routes.produce import BYTES_AT_ONCE
from tests.fakes.admin import FakeAdmin
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeKafka
from tests.fakes.cold_log import restarted_cold
from tests.fakes.offset_requests import at, commit

IN_T_0 = {"id": "1", "value": "a", "partition_id": 0}


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> FakeAdmin:
    """Three records in t-0; the group g has committed 1."""
    kafka = FakeKafka()
    kafka.topic("t", 2)
    kafka.appended(record_batch(["a", "b", "c"]), "t", 0)
    commit(kafka.client(), "g", ("t", [at(0, 1)]))
    return FakeAdmin(restarted_cold(kafka, monkeypatch))


@pytest.mark.parametrize(
    "path, expected",
    [
        ("/topics/t/partitions", '"log_end_offset":3'),
        ("/topics/t/partitions/0", '"log_end_offset":3'),
        ("/topics/t/partitions/0/offset", '"end_offset":3'),
        ("/topics/t/records", '"offset":2'),
        ("/groups/g/lag-summary", '"total_lag":2'),
        ("/groups/g/lags", '"lag":2'),
        ("/groups/g/lags/t/partitions/0", '"lag":2'),
        ("/metrics", 'kafka_consumergroup_lag{consumergroup="g",topic="t",partition="0"} 2'),
        ("/console/data/topics", '"records":3'),
        ("/console/data/topics/t", '"records":3'),
        ("/console/data/partitions?topic=t", '"end_offset":3'),
        ("/console/data/consumers?topic=t", '"lag":2'),
        ("/console/data/groups", '"lag":2'),
        ("/console/data/groups/g", '"lag":2'),
        ("/console/data/overview", '"messages_in":3'),
    ],
)
def test_it_is_read(cold: FakeAdmin, path: str, expected: str) -> None:
    response = cold.get(path)
    assert response.status == 200
    assert expected in response.body.decode()


def test_records_of_a_request_stay_in_order(cold: FakeAdmin) -> None:
    """Those of the second group need no partition that is not loaded."""
    assert cold.get("/topics/t/partitions/1").status == 200
    values = ((0, "a"), (1, "first"), (1, "s" * BYTES_AT_ONCE))
    body = b"".join(
        json.dumps({"partition_id": index, "value": value}).encode() for index, value in values
    )
    response = cold.request("POST", "/topics/t/records", raw=body)
    reports = [json.loads(line) for line in response.body.splitlines()]
    assert [(one["partition_id"], one["offset"]) for one in reports] == [(0, 3), (1, 0), (1, 1)]


@pytest.mark.parametrize(
    "path, body, expected",
    [
        (
            "/topics/t/records",
            {"value": {"type": "JSON", "data": 1}, "partition_id": 0},
            '"offset":3',
        ),
        ("/topics/t/records:batch", {"transaction": {}, "entries": [IN_T_0]}, '"offset":3'),
        ("/groups/g/offsets", {"to": "latest"}, '"after":3'),
        ("/topics/t:clone", {"name": "u", "records": True}, '"copied_records":3'),
    ],
)
def test_it_is_changed(cold: FakeAdmin, path: str, body: dict[str, Any], expected: str) -> None:
    response = cold.post(path, body)
    assert response.status < 300
    assert expected in response.body.decode()
