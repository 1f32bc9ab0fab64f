"""Whether it lives, whether it is ready, and what it is."""

from __future__ import annotations

import platform
from typing import Any

from fastapi import APIRouter

from interfaces.rest.admin import Admin
from interfaces.rest.answers import JsonAnswer


def router(admin: Admin) -> APIRouter:
    routes = APIRouter(tags=["health"])

    @routes.get("/healthz")
    async def healthz() -> dict[str, Any]:
        """The process answers."""
        return {"status": "ok"}

    @routes.get("/readyz", responses={503: {"description": "Not ready, and why."}})
    @routes.get("/v1/status/ready", include_in_schema=False)
    async def readyz() -> JsonAnswer:
        """Clients can be served; 503 with the reasons when not."""
        reasons = {name: why for name, check in admin.checks.items() if (why := check())}
        checks = [
            {
                "name": name,
                "status": "down" if name in reasons else "up",
                "reason": reasons.get(name),
            }
            for name in admin.checks
        ]
        status = "not ready" if reasons else "ready"
        return JsonAnswer({"status": status, "checks": checks}, 503 if reasons else 200)

    @routes.get("/version")
    async def version() -> dict[str, Any]:
        return {
            "version": admin.version,
            "python": platform.python_version(),
            "cluster_id": admin.broker.cluster_id,
            "node_id": admin.broker.config.node_id,
            "storage": admin.storage,
            "started_at_ms": admin.started_at_ms,
            "uptime_ms": admin.clock.now_ms() - admin.started_at_ms,
        }

    return routes
