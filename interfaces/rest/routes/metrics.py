"""Metrics for monitoring, and the newest requests."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from time import perf_counter_ns
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from application.metrics.recent_requests import RequestQuery
from application.ports.request_log import RequestRecord
from interfaces.rest.pending import value_of
from interfaces.rest.routes.resource import ShortRoutes, get

PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8"
MS = 1_000_000
_INTEGER = re.compile(r"\s*-?[0-9]{1,10}\s*")


class MetricsRoutes(ShortRoutes):
    tag = "metrics"

    @get("/metrics", response_class=Response)
    async def metrics(self) -> Response:
        """All metrics, in the text format of Prometheus."""
        pieces = await value_of(self._admin.metrics.scrape())
        return StreamingResponse(_each(pieces), media_type=PROMETHEUS_TEXT)

    @get("/requestz")
    async def requestz(
        self,
        request: Request,
        correlation_id: str | None = None,
        client_id: str | None = None,
        api: str | None = None,
        errors: bool = False,
        slow_ms: Annotated[int, Query(ge=0)] = 0,
        topic: str | None = None,
        polling: bool = True,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
    ) -> Response:
        """The newest requests, with the fields of the request log.

        `api` may be `http`; `topic` finds requests that name this topic only; without `polling`,
        successful fetches and heartbeats are left out. Successful HTTP requests of the console and
        of monitoring are in the log only. `apis` has all APIs of Kafka that were requested.
        """
        wanted = correlation_id
        if correlation_id is not None and _INTEGER.fullmatch(correlation_id):
            wanted = str(int(correlation_id))
        query = RequestQuery(wanted, client_id, api, errors, slow_ms * MS, topic, polling)
        found: list[RequestRecord] = []
        for some in self._admin.requests.find(query):
            found += some
            if len(found) >= limit:
                break
            await asyncio.sleep(0)
        now_ns = perf_counter_ns()
        bodies = (_body(record, now_ns) for record in found[:limit])
        apis = sorted({api for api, _, _ in self._admin.counted()})
        return await self._list(request, "RequestList", bodies, apis=apis)


async def _each(pieces: list[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def _body(record: RequestRecord, now_ns: int) -> dict[str, Any]:
    client = record.client
    sent = datetime.fromtimestamp(record.sent_ms / 1000, UTC)
    subject = {} if record.log_subject is None else dict((record.log_subject,))
    return {
        "time": sent.isoformat(timespec="milliseconds"),
        "ago_ms": (now_ns - record.sent_ns) // MS,
        "correlation_id": record.correlation_id,
        "connection_id": client.connection_id,
        "client_id": client.client_id,
        "software": f"{client.software_name}/{client.software_version}".strip("/"),
        "peer": client.peer,
        "listener": client.listener,
        "api": record.kind.title,
        "version": record.kind.version,
        **subject,
        "topics": record.topics,
        "bytes_in": record.bytes_in,
        "bytes_out": record.bytes_out,
        **_times_us(record),
        "throttle_ms": record.throttle_ms,
        "errors": record.error_names,
        "error_codes": record.error_codes,
    }


def _times_us(record: RequestRecord) -> dict[str, int]:
    return {
        "queue_us": (record.started_ns - record.received_ns) // 1000,
        "decode_us": (record.decoded_ns - record.started_ns) // 1000,
        "handle_us": (record.handled_ns - record.decoded_ns) // 1000,
        "wait_us": (record.completed_ns - record.handled_ns) // 1000,
        "send_us": (record.sent_ns - record.completed_ns) // 1000,
        "total_us": (record.sent_ns - record.received_ns) // 1000,
    }
