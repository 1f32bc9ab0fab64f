"""Producing over HTTP, as Confluent's v3 has it: records stream in, reports stream out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from itertools import chain, islice
from typing import Any

import orjson
from fastapi import APIRouter
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from application.records.send import Delivery, OutgoingRecord
from domain.topics.partitioner import SLICE_BYTES, murmur2_in_slices
from interfaces.rest.admin import Admin
from interfaces.rest.answers import JsonAnswer, encodable
from interfaces.rest.errors import NO_JSON, RestError
from interfaces.rest.exchange import Exchange, exchange_of
from interfaces.rest.pending import value_of
from interfaces.rest.records.json_stream import JsonObjects, NotObjects
from interfaces.rest.records.outgoing import (
    BAD_RECORD,
    Outgoing,
    delivered,
    outgoing,
    parse_object,
)
from interfaces.rest.routes.topics import existing_topic
from interfaces.rest.slices import Turns
from interfaces.rest.streaming import Streamed

#: Records that are encoded in one go, and become durable together.
RECORDS_AT_ONCE = 64
BYTES_AT_ONCE = 256 * 1024
#: Of keys that decide about their partitions, which is a loop of Python's.
HASHED_AT_ONCE = SLICE_BYTES
#: Base64 and quotes make a record longer than it is.
JSON_GROWTH = 2
JSON_ROOM_BYTES = 64 * 1024
MAX_ENTRIES = 1000

_Parsed = Outgoing | RestError


def router(admin: Admin) -> APIRouter:
    routes = APIRouter(tags=["records"])
    broker = admin.broker

    async def sent(
        topic_name: str, parsed: list[_Parsed], turns: Turns
    ) -> list[Delivery | RestError]:
        """What became of each, in their order."""
        good = [each for each in parsed if isinstance(each, Outgoing)]
        for each in good:
            await _hash(each.record, turns)
        sending = []
        for group in _groups([each.record for each in good]):
            sending.append(broker.records.send.send(topic_name, group))
            await turns.give()
        told: list[list[Delivery]] = [await value_of(pending) for pending in sending]
        deliveries = iter(chain.from_iterable(told))
        return [each if isinstance(each, RestError) else next(deliveries) for each in parsed]

    async def reports(request: Request, topic_name: str) -> AsyncGenerator[bytes, None]:
        exchange = exchange_of(request)
        most_bytes = broker.config.message_max_bytes * JSON_GROWTH + JSON_ROOM_BYTES
        objects = JsonObjects(most_bytes)
        turns = Turns(admin)
        begun = False
        try:
            async for piece in request.stream():
                parsed: list[_Parsed] = []
                broken: NotObjects | None = None
                for text in _until_broken(objects.feed(piece)):
                    await turns.give()
                    if isinstance(text, NotObjects):
                        broken = text
                    elif text is not None:
                        parsed.append(_parse(text))
                    if len(parsed) == RECORDS_AT_ONCE:
                        begun = True
                        yield await reported(exchange, topic_name, parsed, turns)
                        parsed = []
                if parsed:
                    begun = True
                    yield await reported(exchange, topic_name, parsed, turns)
                if broken is not None:
                    raise broken
            objects.finish()
        except RestError as ended:  # nothing more comes, or the broker is stopping
            if not begun:
                raise
            yield _line(exchange.refuse(ended))
        except NotObjects as broken:
            yield _line(exchange.refuse_with(NO_JSON, str(broken)))
        except ClientDisconnect:
            return

    async def reported(
        exchange: Exchange, topic_name: str, parsed: list[_Parsed], turns: Turns
    ) -> bytes:
        lines = []
        for one, delivery in zip(parsed, await sent(topic_name, parsed, turns), strict=True):
            if isinstance(delivery, Exception):
                lines.append(_line(exchange.refuse(delivery)))
            else:
                assert isinstance(one, Outgoing)
                told = delivered(one, delivery, broker.cluster_id, topic_name)
                lines.append(_line({"error_code": 200} | told))
        return b"".join(lines)

    @routes.post("/topics/{topic_name}/records", openapi_extra=_BODY)
    async def produce_records(request: Request, topic_name: str) -> Response:
        """Objects one after the other; each is durable when its report comes, in the same order.

        One that is refused is reported, and the others go on. Whoever sends many reads the reports
        meanwhile.
        """
        existing_topic(admin, topic_name)
        exchange_of(request).most_body_bytes = None
        told = reports(request, topic_name)
        # Until then a failure can still be the answer's status.
        first = await anext(told, b"")
        return Streamed(_behind(first, told), "application/json", listens=False)

    @routes.post("/topics/{topic_name}/records:batch", status_code=207, openapi_extra=_BODY)
    async def produce_batch(request: Request, topic_name: str) -> Response:
        """Entries with ids of the client's, answered by what went well and what did not."""
        existing_topic(admin, topic_name)
        exchange = exchange_of(request)
        exchange.most_body_bytes = _most_of_batch(admin)
        entries = _entries(parse_object(await request.body()))
        successes: list[dict[str, Any]] = []
        failures: list[dict[str, Any]] = []
        left = iter(entries)
        turns = Turns(admin)
        while some := list(islice(left, RECORDS_AT_ONCE)):
            parsed = []
            for each in some:
                parsed.append(_outgoing(each, frozenset({"id"})))
                await turns.give()
            outcomes = zip(some, parsed, await sent(topic_name, parsed, turns), strict=True)
            for entry, one, delivery in outcomes:
                if isinstance(delivery, Exception):
                    failures.append({"id": entry["id"]} | exchange.refuse(delivery))
                else:
                    assert isinstance(one, Outgoing)
                    told = delivered(one, delivery, broker.cluster_id, topic_name)
                    successes.append({"id": entry["id"]} | told)
        return JsonAnswer({"successes": successes, "failures": failures}, 207)

    return routes


async def _behind(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(rest):
        yield first
        async for piece in rest:
            yield piece


def _is_to_be_hashed(record: OutgoingRecord) -> bool:
    return record.partition is None and record.key_hash is None


async def _hash(record: OutgoingRecord, turns: Turns) -> None:
    """A key that is too long for one step; the others are hashed where they are sent."""
    if record.key is None or len(record.key) <= SLICE_BYTES or not _is_to_be_hashed(record):
        return
    slices = murmur2_in_slices(record.key)
    while record.key_hash is None:
        try:
            next(slices)
        except StopIteration as end:
            record.key_hash = end.value
        await turns.give()


def _groups(records: list[OutgoingRecord]) -> Iterator[list[OutgoingRecord]]:
    """As many together as are encoded, and their partitions found, in about a millisecond."""
    group: list[OutgoingRecord] = []
    size_bytes = hashed_bytes = 0
    for record in records:
        key_bytes = len(record.key or b"")
        size_bytes += key_bytes + len(record.value or b"")
        hashed_bytes += key_bytes if _is_to_be_hashed(record) else 0
        if group and (size_bytes > BYTES_AT_ONCE or hashed_bytes > HASHED_AT_ONCE):
            yield group
            group = []
            size_bytes = key_bytes + len(record.value or b"")
            hashed_bytes = key_bytes if _is_to_be_hashed(record) else 0
        group.append(record)
    if group:
        yield group


def _until_broken(objects: Iterator[bytes | None]) -> Iterator[bytes | NotObjects | None]:
    """What is wrong with the body comes last, after what was right."""
    try:
        yield from objects
    except NotObjects as broken:
        yield broken


def _parse(text: bytes) -> _Parsed:
    try:
        return outgoing(parse_object(text))
    except RestError as refused:
        return refused


def _outgoing(entry: dict[str, Any], also: frozenset[str]) -> _Parsed:
    try:
        return outgoing(entry, also)
    except RestError as refused:
        return refused


def _most_of_batch(admin: Admin) -> int:
    config = admin.broker.config
    return max(config.admin_request_max_bytes, config.message_max_bytes * JSON_GROWTH)


def _entries(body: Any) -> list[dict[str, Any]]:
    entries = body.get("entries") if isinstance(body, dict) else None
    if not isinstance(entries, list) or not 1 <= len(entries) <= MAX_ENTRIES:
        raise RestError(422, f"entries: expected 1 to {MAX_ENTRIES} of them", BAD_RECORD)
    ids = [each.get("id") if isinstance(each, dict) else None for each in entries]
    if not all(
        isinstance(each, str) and 0 < len(each) <= 80 and encodable(each) == each for each in ids
    ):
        raise RestError(422, "entries: each has an id of 1 to 80 characters", BAD_RECORD)
    if len(set(ids)) < len(ids):
        raise RestError(422, "entries: no two have the same id", BAD_RECORD)
    return entries


def _line(body: dict[str, Any]) -> bytes:
    return orjson.dumps(body) + b"\n"


_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}
