from __future__ import annotations

import pytest

from interfaces.main.container.admin import checks_of
from tests.fakes.admin import FakeAdmin
from tests.fakes.shared_store import SharedStore


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


def test_a_broker_without_a_lease_is_not_ready() -> None:
    """It has nothing to commit, and would not notice otherwise."""
    shared = SharedStore()
    admin = FakeAdmin(shared.start(1))
    admin.checks.clear()
    admin.checks.update(checks_of(admin.fake.broker, []))
    assert admin.get("/readyz").status == 200
    shared.fence(1)
    response = admin.get("/readyz")
    assert response.status == 503
    down = [(one["name"], one["reason"]) for one in response.json["checks"] if one["reason"]]
    assert down == [("lease", "the lease is over: other brokers may take the place of this one")]


def test_a_broker_that_is_alone_needs_no_lease(admin: FakeAdmin) -> None:
    assert list(checks_of(admin.fake.broker, [])) == ["listeners", "storage", "recovery"]


def test_version_and_uptime(admin: FakeAdmin) -> None:
    admin.fake.clock.advance(1500)
    body = admin.get("/version").json
    assert body["version"] == "1.2.3"
    assert body["storage"] == "memory://"
    assert body["cluster_id"] == admin.fake.broker.cluster_id
    assert body["uptime_ms"] == 1500
