"""Records: look into them, page by page, as they come, or all of them as a file."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import AsyncGenerator, Coroutine
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

import orjson
from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from application.records.cursor import write_cursor
from application.records.plan import OffsetRange, ScanEnd, ScanPlan
from application.records.scan import TIME
from application.records.scan_worker import RunningScan, ScanPart
from domain.errors import BrokerError
from interfaces.rest.answers import JsonAnswer, Large, error_body
from interfaces.rest.errors import RestError
from interfaces.rest.exchange import exchange_of
from interfaces.rest.pending import value_of, when_loaded
from interfaces.rest.records.events import events_of
from interfaces.rest.records.shapes import RecordList
from interfaces.rest.records.wanted import DownloadWanted, RecordsWanted, TailWanted
from interfaces.rest.routes.resource import Routes
from interfaces.rest.streaming import Streamed, left
from interfaces.rest.urls import Urls

T = TypeVar("T")

#: What records hold came from anywhere: no browser shall take it for a page.
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
    def router(self) -> APIRouter:
        routes = APIRouter(tags=["records"])
        routes.get("/topics/{topic_name}/records", response_model=RecordList)(self.browse_records)
        routes.get(
            "/topics/{topic_name}/records:tail",
            response_class=Response,
            responses={200: {"content": {"text/event-stream": {}}, "description": "Events."}},
        )(self.tail_records)
        routes.get(
            "/topics/{topic_name}/records:download",
            response_class=Response,
            responses={
                200: {"content": {kind: {} for _, kind in FILES.values()}, "description": "A file."}
            },
        )(self.download_records)
        return routes

    async def browse_records(
        self, request: Request, topic_name: str, wanted: Annotated[RecordsWanted, Query()]
    ) -> Response:
        """A page of records, and why it ends where it does."""
        browse = self._broker.messages.browse
        plan = await when_loaded(
            lambda: browse.plan(
                topic_name, wanted.partition or None, wanted.plan(), wanted.offset, wanted.cursor
            )
        )
        whole = [(each.start, each.end) for each in plan.ranges]
        scan = browse.scan(plan)
        pieces, end = await _while_wanted(request, _gathered(scan))
        if end.reason == TIME and [(each.start, each.end) for each in end.ranges] == whole:
            return _busy(request)
        cursor = write_cursor(end.ranges, wanted.newest_first)
        urls = self._urls(request)
        head = {
            "kind": "KafkaRecordList",
            "metadata": {
                "self": _page(request, urls, topic_name, None),
                "next": cursor and _page(request, urls, topic_name, cursor),
            },
            "cluster_id": self._broker.cluster_id,
            "topic_name": topic_name,
            "order": "newest" if wanted.newest_first else "oldest",
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
        return Large([orjson.dumps(head)[:-1], b',"data":[', *pieces, b"]}"], INERT)

    async def tail_records(
        self, request: Request, topic_name: str, wanted: Annotated[TailWanted, Query()]
    ) -> Response:
        """Records as they come, as server-sent events."""
        tail = await when_loaded(
            lambda: self._broker.messages.tail.open(
                topic_name,
                wanted.partition or None,
                offset=wanted.offset,
                last=wanted.last,
                wanted=wanted.filter(),
                data_format=wanted.format,
            )
        )
        tail.resume_from(_positions(request.headers.get("last-event-id", "")))
        exchange = exchange_of(request)
        headers = INERT | {"x-accel-buffering": "no"}
        events = events_of(tail, exchange.stopping, failed=exchange.refuse)
        return Streamed(events, "text/event-stream", headers, tail.close)

    async def download_records(
        self, request: Request, topic_name: str, wanted: Annotated[DownloadWanted, Query()]
    ) -> Response:
        """All that fit, as a file: ndjson, csv or parquet."""
        form, media_type = FILES[wanted.format]
        if form == "parquet" and importlib.util.find_spec("pyarrow") is None:
            raise RestError(
                501, "Parquet needs a library in the broker's environment: pip install pyarrow"
            )
        browse = self._broker.messages.browse
        partitions = wanted.partition or None
        plan = await when_loaded(
            lambda: browse.plan(topic_name, partitions, wanted.plan(form), wanted.offset)
        )
        scan = browse.scan(plan)
        first = await _while_wanted(request, _part(scan))
        name = quote(f"{topic_name}.{wanted.format}")
        headers = INERT | {"content-disposition": f'attachment; filename="{name}"'}
        return Streamed(_rest(scan, first), media_type, headers, scan.close)


def _busy(request: Request) -> Response:
    """All workers were, for as long as the page might take: nothing of it could be done."""
    exchange = exchange_of(request)
    exchange.error_code = 50304
    words = "too many scans at once: ask again later"
    body = error_body(50304, words, exchange.correlation_id)
    return JsonAnswer(body, 503, headers={"retry-after": "1"})


async def _while_wanted(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What comes of it, unless its client leaves before, or the server stops."""
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
                # A line each, and no line break within one.
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
    """The one that is answered, or the one with this cursor."""
    query = str(request.url.include_query_params(cursor=cursor) if cursor else request.url)
    _, separator, query = query.partition("?")
    return urls("topics", topic_name, "records") + separator + query


def _progress(plan: ScanPlan, left: OffsetRange, start: int, end: int) -> dict[str, Any]:
    """`start` and `end` of what was to be looked through; `left` of it is what was not."""
    return {
        "partition_id": left.index,
        "start_offset": start,
        "end_offset": end,
        "left": None if left.is_done else {"start_offset": left.start, "end_offset": left.end},
    }


def _positions(last_event_id: str) -> dict[int, int]:
    """What a browser hands back when it connects again; nonsense is nothing."""
    try:
        pairs = [each.split(":") for each in last_event_id.split(",")[:1000]]
        return {int(index): int(offset) for index, offset in pairs}
    except ValueError:
        return {}
