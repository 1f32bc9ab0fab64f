"""Records: read by page, tailed, or downloaded as a file."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import AsyncGenerator, Coroutine
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

import orjson
from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from application.records.cursor import write_cursor
from application.records.plan import OffsetRange, ScanEnd, ScanPlan
from application.records.scan import TIME
from application.records.scan_worker import RunningScan, ScanPart
from domain.errors import BrokerError
from interfaces.rest.errors import RestError
from interfaces.rest.exchange import exchange_of
from interfaces.rest.pending import value_of, when_loaded
from interfaces.rest.records.events import end_event, events_of
from interfaces.rest.records.queries import DownloadQuery, RecordsQuery, TailQuery
from interfaces.rest.records.shapes import RecordList
from interfaces.rest.responses import JsonResponse, error_body, large
from interfaces.rest.routes.resource import Routes, get
from interfaces.rest.streaming import Streamed, left
from interfaces.rest.urls import Urls

T = TypeVar("T")

#: Any client may have written the records: browsers must not show them as a page.
INERT = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
    "cache-control": "no-store",
}
FILES = {
    "ndjson": ("json", "application/x-ndjson"),
    "csv": ("csv", "text/csv; charset=utf-8"),
    "parquet": ("parquet", "application/vnd.apache.parquet"),
}


class RecordRoutes(Routes):
    tag = "records"

    @get("/topics/{topic_name}/records", RecordList)
    async def browse_records(
        self, request: Request, topic_name: str, query: Annotated[RecordsQuery, Query()]
    ) -> Response:
        """A page of records, with the reason for its end."""
        browse = self._broker.messages.browse
        plan = await when_loaded(
            lambda: browse.plan(
                topic_name, query.partition or None, query.plan(), query.offset, query.cursor
            )
        )
        whole = [(each.start, each.end) for each in plan.ranges]
        scan = browse.scan(plan)
        pieces, end = await _unless_disconnected(request, _gathered(scan))
        if end.reason == TIME and [(each.start, each.end) for each in end.ranges] == whole:
            return _workers_busy(request)
        cursor = write_cursor(end.ranges, query.newest_first)
        urls = self._urls(request)
        head = {
            "kind": "KafkaRecordList",
            "metadata": {
                "self": _page(request, urls, topic_name, None),
                "next": cursor and _page(request, urls, topic_name, cursor),
            },
            "cluster_id": self._broker.cluster_id,
            "topic_name": topic_name,
            "order": "newest" if query.newest_first else "oldest",
            "stopped_because": end.reason,
            "next_cursor": cursor,
            "found": end.found,
            "scanned": end.scanned,
            "unreadable_batches": end.unreadable,
            "partitions": [
                _progress(plan, each, *before)
                for each, before in zip(end.ranges, whole, strict=True)
            ],
        }
        return large([orjson.dumps(head)[:-1], b',"data":[', *pieces, b"]}"], INERT)

    @get(
        "/topics/{topic_name}/records:tail",
        response_class=Response,
        responses={200: {"content": {"text/event-stream": {}}, "description": "Events."}},
    )
    async def tail_records(
        self, request: Request, topic_name: str, query: Annotated[TailQuery, Query()]
    ) -> Response:
        """New records, as server-sent events."""
        tail = await when_loaded(
            lambda: self._broker.messages.tail.open(
                topic_name,
                query.partition or None,
                offset=query.offset,
                last=query.last,
                conditions=query.filter(),
                data_format=query.format,
            )
        )
        tail.resume_from(_positions(request.headers.get("last-event-id", "")))
        exchange = exchange_of(request)
        headers = INERT | {"x-accel-buffering": "no"}
        events = events_of(tail, exchange.stopping, failed=exchange.refuse)
        return Streamed(
            events,
            "text/event-stream",
            headers,
            tail.close,
            ending=lambda ended: end_event(ended.message),
        )

    @get(
        "/topics/{topic_name}/records:download",
        response_class=Response,
        responses={
            200: {"content": {kind: {} for _, kind in FILES.values()}, "description": "A file."}
        },
    )
    async def download_records(
        self, request: Request, topic_name: str, query: Annotated[DownloadQuery, Query()]
    ) -> Response:
        """All matching records as a file: ndjson, csv or parquet."""
        form, media_type = FILES[query.format]
        if form == "parquet" and importlib.util.find_spec("pyarrow") is None:
            raise RestError(
                501, "Parquet needs a library in the broker's environment: pip install pyarrow"
            )
        browse = self._broker.messages.browse
        partitions = query.partition or None
        plan = await when_loaded(
            lambda: browse.plan(topic_name, partitions, query.plan(form), query.offset)
        )
        scan = browse.scan(plan)
        first = await _unless_disconnected(request, _part(scan))
        name = quote(f"{topic_name}.{query.format}")
        headers = INERT | {"content-disposition": f'attachment; filename="{name}"'}
        return Streamed(_rest(scan, first), media_type, headers, scan.close)


def _workers_busy(request: Request) -> Response:
    """All worker processes were busy until the time of the page was over."""
    exchange = exchange_of(request)
    exchange.error_code = 50304
    message = "too many scans at once: try again later"
    body = error_body(50304, message, exchange.correlation_id)
    return JsonResponse(body, 503, headers={"retry-after": "1"})


async def _unless_disconnected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result, unless the client disconnects before, or the server stops."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(left(request.receive))
    stopped = asyncio.ensure_future(exchange_of(request).stopping.wait())
    all_of = (working, leaving, stopped)
    try:
        await asyncio.wait(all_of, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        if stopped.done():
            raise RestError(503, "the broker is stopping", 50303)
        leaving.result()
        raise RestError(499, "the client has left")
    finally:
        for each in all_of:
            each.cancel()
        await asyncio.gather(*all_of, return_exceptions=True)


async def _gathered(scan: RunningScan) -> tuple[list[bytes], ScanEnd]:
    pieces: list[bytes] = []
    try:
        while True:
            part = await _part(scan)
            if part.data:
                # One line per record, without line breaks in it.
                pieces.append((b"," if pieces else b"") + part.data[:-1].replace(b"\n", b","))
            if isinstance(part.end, ScanEnd):
                return pieces, part.end
    finally:
        scan.close()


async def _rest(scan: RunningScan, part: ScanPart) -> AsyncGenerator[bytes, None]:
    try:
        while True:
            if part.data:
                yield part.data
            if part.end is not None:
                return
            part = await _part(scan)
    finally:
        scan.close()


async def _part(scan: RunningScan) -> ScanPart:
    try:
        part = await value_of(scan.next())
    except BaseException:
        scan.close()
        raise
    if isinstance(part.end, BrokerError):
        raise part.end
    return part


def _page(request: Request, urls: Urls, topic_name: str, cursor: str | None) -> str:
    """The URL of the page of this request, or of the one with this cursor."""
    query = str(request.url.include_query_params(cursor=cursor) if cursor else request.url)
    _, separator, query = query.partition("?")
    return urls("topics", topic_name, "records") + separator + query


def _progress(plan: ScanPlan, left: OffsetRange, start: int, end: int) -> dict[str, Any]:
    """`start` and `end` bound the search; `left` is the part that was not searched."""
    return {
        "partition_id": left.index,
        "start_offset": start,
        "end_offset": end,
        "log_end_offset": left.log_end,
        "left": None if left.is_done else {"start_offset": left.start, "end_offset": left.end},
    }


def _positions(last_event_id: str) -> dict[int, int]:
    """Offsets by partition, as a browser sends them when it reconnects; invalid ids are ignored."""
    try:
        pairs = [each.split(":") for each in last_event_id.split(",")[:1000]]
        return {int(index): int(offset) for index, offset in pairs}
    except ValueError:
        return {}
