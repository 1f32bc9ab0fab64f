from __future__ import annotations

import pytest

from tests.fakes.admin import FakeAdmin


def test_a_running_broker_is_alive(admin: FakeAdmin) -> None:
    assert admin.get("/healthz").json == {"status": "ok"}


@pytest.mark.parametrize("path", ["/readyz", "/v1/status/ready"])
def test_a_broker_is_ready_unless_a_check_fails(admin: FakeAdmin, path: str) -> None:
    ready = admin.get(path)
    assert (ready.status, ready.json["status"]) == (200, "ready")
    admin.checks["storage"] = lambda: "the disk is full"
    response = admin.get(path)
    assert response.status == 503
    assert response.json == {
        "status": "not ready",
        "checks": [
            {"name": "listeners", "status": "up", "reason": None},
            {"name": "storage", "status": "down", "reason": "the disk is full"},
        ],
    }


def test_version_and_uptime(admin: FakeAdmin) -> None:
    admin.fake.clock.advance(1500)
    body = admin.get("/version").json
    assert body["version"] == "1.2.3"
    assert body["storage"] == "memory://"
    assert body["cluster_id"] == admin.fake.broker.cluster_id
    assert body["uptime_ms"] == 1500
