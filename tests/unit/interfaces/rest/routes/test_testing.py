"""The routes of a broker with `testing`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.admin import FakeAdmin

FAULT = {
    "api": "Produce",
    "error": None,
    "delay_ms": 0,
    "disconnect": "after",
    "times": 1,
    "topic": None,
    "group": None,
    "client_id": None,
}


def test_a_fault_is_added_listed_and_removed(admin: FakeAdmin) -> None:
    response = admin.post("/test/faults", {"api": "Produce", "disconnect": "after"})
    assert (response.status, response.json) == (201, {"fault_id": 1, **FAULT, "matched": 0})
    assert admin.get("/test/faults").json["data"] == [response.json]
    assert admin.request("DELETE", "/test/faults/1").status == 204
    assert admin.request("DELETE", "/test/faults/1").status == 404
    assert admin.get("/test/faults").json["data"] == []


def test_all_faults_are_removed(admin: FakeAdmin) -> None:
    admin.post("/test/faults", {"api": "*", "delay_ms": 1, "times": None})
    admin.post("/test/coordinator", {"group": "g"})
    assert len(admin.get("/test/faults").json["data"]) == 2
    assert admin.request("DELETE", "/test/faults").status == 204
    assert admin.get("/test/faults").json["data"] == []


def test_a_moved_coordinator_is_a_fault(admin: FakeAdmin) -> None:
    response = admin.post("/test/coordinator", {"group": "g"})
    assert response.status == 201
    assert response.json == {
        "fault_id": 1,
        **FAULT,
        "api": "*",
        "error": "NOT_COORDINATOR",
        "disconnect": None,
        "times": None,
        "group": "g",
        "matched": 0,
    }


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"api": "produce", "delay_ms": 1}, "api: unknown name produce (did you mean Produce?)"),
        ({"api": "Nonsense", "delay_ms": 1}, "api: unknown name Nonsense"),
        (
            {"api": "*", "error": "NOT_LEADER_FOR_PARTITION"},
            "error: unknown name NOT_LEADER_FOR_PARTITION (did you mean NOT_LEADER_OR_FOLLOWER?)",
        ),
        ({"api": "*"}, "error, disconnect or delay_ms is required"),
        (
            {"api": "*", "error": "NOT_COORDINATOR", "disconnect": "after"},
            "error and disconnect exclude each other",
        ),
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(
    admin: FakeAdmin, body: dict[str, Any], message: str
) -> None:
    response = admin.post("/test/faults", body)
    assert (response.status, response.json["error_code"]) == (422, 42201)
    assert response.json["message"] == message


def test_the_clock_is_advanced(admin: FakeAdmin) -> None:
    before = admin.get("/test/clock").json
    assert before == {"now_ms": admin.fake.clock.now_ms(), "advanced_ms": 0}
    response = admin.post("/test/clock", {"advance_ms": 600_000})
    after = {"now_ms": before["now_ms"] + 600_000, "advanced_ms": 600_000}
    assert (response.status, response.json) == (200, after)
    assert admin.get("/test/clock").json == after


@pytest.mark.parametrize("advance_ms", [-1, 10**15, "soon"])
def test_the_clock_goes_forward_only(admin: FakeAdmin, advance_ms: object) -> None:
    assert admin.post("/test/clock", {"advance_ms": advance_ms}).status == 422
    assert admin.get("/test/clock").json["advanced_ms"] == 0


def test_a_reset_deletes_topics_and_faults(admin: FakeAdmin) -> None:
    admin.fake.topic("t")
    admin.post("/test/faults", {"api": "*", "delay_ms": 1})
    response = admin.post("/test/reset")
    assert (response.status, response.json) == (200, {"topics": 1, "groups": 0})
    assert admin.get("/topics").json["data"] == admin.get("/test/faults").json["data"] == []


def test_a_reset_that_is_not_durable_fails(admin: FakeAdmin) -> None:
    admin.fake.topic("t")
    admin.fake.commit.fail_next()
    assert admin.post("/test/reset").status == 503
    assert len(admin.get("/topics").json["data"]) == 1


def test_an_unknown_snapshot_is_not_found(admin: FakeAdmin) -> None:
    for method, path in (("POST", "/test/snapshots/s/restore"), ("DELETE", "/test/snapshots/s")):
        assert admin.request(method, path).status == 404
