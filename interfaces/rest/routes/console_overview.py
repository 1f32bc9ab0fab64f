"""Data of the console's overview: totals and states, in one small response.

The page polls every two seconds while it is visible, and computes rates from the totals.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from typing import Any

from application.metrics.families.durations import Durations
from application.summaries import Summaries
from interfaces.rest.admin import Admin
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import Routes, get
from interfaces.rest.slices import all_of

#: The groups with the most lag.
LAGGING = 5
#: APIs whose latency the page draws.
TIMED = ("Produce",)


class ConsoleOverviewRoutes(Routes):
    def __init__(self, admin: Admin) -> None:
        super().__init__(admin)
        broker = admin.broker
        self._summaries = Summaries(broker.catalog, broker.groups.registry, broker.groups.offsets)

    tag = "console"
    prefix = "/console/data"
    in_schema = False

    @get("/overview")
    async def overview(self) -> JsonResponse:
        topics = await all_of(self._admin, self._summaries.topics())
        groups = await all_of(self._admin, self._summaries.groups())
        lagging = sorted((one for one in groups if one.lag), key=lambda one: one.lag, reverse=True)
        totals, durations = _counted(self._admin)
        volume = self._broker.topics.log_dirs.volume
        space = volume.space()
        return JsonResponse(
            {
                "at_ms": self._admin.clock.now_ms(),
                "started_at_ms": self._admin.started_at_ms,
                "totals": {"records_in": sum(topic.appended for topic in topics), **totals},
                "durations": durations,
                "topics": len(self._broker.catalog),
                "partitions": self._broker.catalog.partition_count(),
                "groups": len(groups),
                "groups_with_lag": len(lagging),
                "lagging": [
                    {"group_id": one.group.group_id, "state": one.group.state_name, "lag": one.lag}
                    for one in lagging[:LAGGING]
                ],
                "connections": len(self._admin.connections()),
                "max_connections": self._broker.config.max_connections,
                "disk": {
                    "place": volume.path,
                    "data_bytes": sum(topic.size_bytes or 0 for topic in topics),
                    "free_bytes": space.usable_bytes,
                    "total_bytes": space.total_bytes,
                },
                "not_ready": [why for check in self._admin.checks.values() if (why := check())],
                "broker": _facts(self._admin),
            }
        )


def _counted(admin: Admin) -> tuple[dict[str, int], dict[str, list[int]]]:
    requests = errors = bytes_in = bytes_out = 0
    durations = {api: Durations() for api in TIMED}
    for api, _, counts in admin.counted():
        requests += counts.requests
        errors += counts.errors.total()
        bytes_in += counts.bytes_in
        bytes_out += counts.bytes_out
        if api in durations:
            durations[api].merge(counts.total)
    totals = {
        "requests": requests, "errors": errors, "bytes_in": bytes_in, "bytes_out": bytes_out,
    }  # fmt: skip
    return totals, {api: each.places for api, each in durations.items()}


def _facts(admin: Admin) -> dict[str, Any]:
    broker = admin.broker
    return {
        "version": admin.version,
        "python": platform.python_version(),
        "cluster_id": broker.cluster_id,
        "node_id": broker.config.node_id,
        "storage": admin.storage,
        "flush": broker.config.flush,
        "listeners": list(_listeners(admin)),
    }


def _listeners(admin: Admin) -> Iterator[dict[str, Any]]:
    for each in admin.listeners():
        host = f"[{each.host}]" if ":" in each.host else each.host
        address = f"{host}:{each.port}"
        yield {"name": each.name, "address": address, "advertised": each.advertised}
