"""Liveness, readiness, version, and the description of all routes."""

from __future__ import annotations

import asyncio
import platform
from typing import Any

from starlette.requests import Request

from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import Routes, get


class HealthRoutes(Routes):
    tag = "health"

    @get("/healthz")
    async def healthz(self) -> dict[str, Any]:
        """The process responds."""
        return {"status": "ok"}

    @get("/v1/status/ready", include_in_schema=False)
    @get("/readyz", responses={503: {"description": "Not ready, with reasons."}})
    async def readyz(self) -> JsonResponse:
        """200 if clients can be served, 503 with the reasons if not."""
        reasons = {name: why for name, check in self._admin.checks.items() if (why := check())}
        checks = [
            {
                "name": name,
                "status": "down" if name in reasons else "up",
                "reason": reasons.get(name),
            }
            for name in self._admin.checks
        ]
        status = "not ready" if reasons else "ready"
        return JsonResponse({"status": status, "checks": checks}, 503 if reasons else 200)

    @get("/version")
    async def version(self) -> dict[str, Any]:
        return {
            "version": self._admin.version,
            "python": platform.python_version(),
            "cluster_id": self._broker.cluster_id,
            "node_id": self._broker.config.node_id,
            "storage": self._admin.storage,
            "started_at_ms": self._admin.started_at_ms,
            "uptime_ms": self._admin.clock.now_ms() - self._admin.started_at_ms,
        }

    @get("/openapi.json", include_in_schema=False)
    async def openapi(self, request: Request) -> JsonResponse:
        # FastAPI builds the description once, in half a second, without any state of the loop.
        return JsonResponse(await asyncio.to_thread(request.app.openapi))
