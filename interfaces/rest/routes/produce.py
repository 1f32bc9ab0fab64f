"""Producing over HTTP, as Confluent's v3 has it: records stream in, reports stream out."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from itertools import chain, islice
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from application.records.send import Delivered, Delivery, OutgoingRecord
from domain.errors import BrokerError
from domain.security.access import Operation, ResourceType
from interfaces.rest.admin import Admin
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
from interfaces.rest.responses import JsonResponse, encodable
from interfaces.rest.routes.resource import Routes, post
from interfaces.rest.shapes.common import example
from interfaces.rest.slices import Turns
from interfaces.rest.streaming import Streamed

#: Records that are encoded in one step, and committed together.
RECORDS_AT_ONCE = 64
BYTES_AT_ONCE = 256 * 1024
#: Hashing a byte of a key takes as long as encoding this many bytes.
HASHING_COST = 16
#: A record in JSON is longer than the record, by base64 and quotes.
JSON_GROWTH = 2
JSON_ROOM_BYTES = 64 * 1024
MAX_ENTRIES = 1000
#: Characters of a transactional id.
MAX_ID = 1000

_Parsed = Outgoing | RestError

_RECORD = {
    "key": {"type": "STRING", "data": "order-17"},
    "value": {"type": "JSON", "data": {"amount": 12.5}},
    "headers": [{"name": "trace", "value": "YWJj"}],
}


def _body(**of_example: object) -> dict[str, Any]:
    schema = {"type": "object", **example(**of_example)}
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


class ProduceRoutes(Routes):
    tag = "records"

    async def _sent(
        self, exchange: Exchange, topic_name: str, parsed: list[_Parsed], turns: Turns
    ) -> Iterator[tuple[bool, dict[str, Any]]]:
        """Whether each record was accepted, and its report, in order."""
        send, sending = self._broker.messages.send, []
        groups = [*_groups([each.record for each in parsed if isinstance(each, Outgoing)])]
        for prepared in await value_of(send.prepare(topic_name, groups)):
            sending.append(send.send(prepared))
            await turns.give()
        deliveries: list[list[Delivery]] = [await value_of(pending) for pending in sending]
        return self._each_report(exchange, topic_name, parsed, chain.from_iterable(deliveries))

    def _each_report(
        self,
        exchange: Exchange,
        topic_name: str,
        parsed: list[_Parsed],
        deliveries: Iterator[Delivery],
    ) -> Iterator[tuple[bool, dict[str, Any]]]:
        for one in parsed:
            if isinstance(one, RestError):
                yield False, exchange.refuse(one)
            elif isinstance(delivery := next(deliveries), Delivered):
                yield True, delivered(one, delivery, self._broker.cluster_id, topic_name)
            else:
                yield False, exchange.refuse(delivery)

    async def _reports(self, request: Request, topic_name: str) -> AsyncGenerator[bytes, None]:
        exchange = exchange_of(request)
        most_bytes = self._broker.config.message_max_bytes * JSON_GROWTH + JSON_ROOM_BYTES
        objects = JsonObjects(most_bytes)
        turns = Turns(self._admin)
        reported = False
        try:
            async for piece in request.stream():
                parsed: list[_Parsed] = []
                broken: NotObjects | None = None
                for text in _until_broken(objects.feed(piece)):
                    await turns.give()
                    if isinstance(text, NotObjects):
                        broken = text
                    elif text is not None:
                        parsed.append(_parsed(text))
                    if len(parsed) == RECORDS_AT_ONCE:
                        reported = True
                        yield await self._reported(exchange, topic_name, parsed, turns)
                        parsed = []
                if parsed:
                    reported = True
                    yield await self._reported(exchange, topic_name, parsed, turns)
                if broken is not None:
                    raise broken
            objects.finish()
        except RestError as ended:  # the client stalls, or the broker is stopping
            if not reported:
                raise
            yield _line(exchange.refuse(ended))
        except NotObjects as broken:
            yield _line(exchange.refuse_with(NO_JSON, str(broken)))
        except ClientDisconnect:
            return

    async def _reported(
        self, exchange: Exchange, topic_name: str, parsed: list[_Parsed], turns: Turns
    ) -> bytes:
        reports = await self._sent(exchange, topic_name, parsed, turns)
        return b"".join(
            _line({"error_code": 200} | report if taken else report) for taken, report in reports
        )

    @post("/topics/{topic_name}/records", openapi_extra=_body(**_RECORD))
    async def produce_records(self, request: Request, topic_name: str) -> Response:
        """A stream of JSON objects. A record is durable when its report comes, in the same order.

        A refused record is reported and does not end the stream. A client that sends many records
        has to read the reports meanwhile.
        """
        self._topic(topic_name)
        exchange_of(request).max_body_bytes = None
        reports = self._reports(request, topic_name)
        # Until the first report a failure can set the status of the response.
        first = await anext(reports, b"")
        return Streamed(_behind(first, reports), "application/json", listens=False)

    @post(
        "/topics/{topic_name}/records:batch",
        status_code=207,
        openapi_extra=_body(entries=[{"id": "1", **_RECORD}, {"id": "2", "value": "text"}]),
    )
    async def produce_batch(self, request: Request, topic_name: str) -> Response:
        """Entries with ids that the client chooses; the response lists successes and failures.

        With `"transaction": {}`, or one with a transactional_id, all are committed or none.
        """
        self._topic(topic_name)
        exchange = exchange_of(request)
        exchange.max_body_bytes = _most_of_batch(self._admin)
        body = parse_object(await request.body())
        entries = _entries(body)
        transactional_id = _transactional_id(body)
        if transactional_id is not None:
            exchange.require(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id)
            return await self._in_transaction(topic_name, entries, transactional_id)
        successes: list[dict[str, Any]] = []
        failures: list[dict[str, Any]] = []
        left = iter(entries)
        turns = Turns(self._admin)
        while some := list(islice(left, RECORDS_AT_ONCE)):
            parsed = []
            for each in some:
                parsed.append(_parsed(each, frozenset({"id"})))
                await turns.give()
            reports = await self._sent(exchange, topic_name, parsed, turns)
            for entry, (taken, report) in zip(some, reports, strict=True):
                (successes if taken else failures).append({"id": entry["id"]} | report)
        return JsonResponse({"successes": successes, "failures": failures}, 207)

    async def _in_transaction(
        self, topic_name: str, entries: list[dict[str, Any]], transactional_id: str
    ) -> Response:
        """Raises the error of the first entry that is refused: nothing is committed then."""
        turns = Turns(self._admin)
        parsed: list[Outgoing] = []
        for each in entries:
            parsed.append(outgoing(each, frozenset({"id"})))
            await turns.give()
        groups = [
            group
            for at in range(0, len(parsed), RECORDS_AT_ONCE)
            for group in _groups([one.record for one in parsed[at : at + RECORDS_AT_ONCE]])
        ]
        send = self._broker.messages.send_in_transaction.send
        deliveries = await value_of(send(topic_name, groups, transactional_id))
        if isinstance(deliveries, BrokerError):
            raise deliveries
        successes = []
        for entry, one, delivery in zip(entries, parsed, deliveries, strict=True):
            report = delivered(one, delivery, self._broker.cluster_id, topic_name)
            successes.append({"id": entry["id"]} | report)
            await turns.give()
        transaction = {"transactional_id": transactional_id}
        return JsonResponse(
            {"successes": successes, "failures": [], "transaction": transaction}, 207
        )


async def _behind(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(rest):
        yield first
        async for piece in rest:
            yield piece


def _groups(records: list[OutgoingRecord]) -> Iterator[list[OutgoingRecord]]:
    """Groups that take about a millisecond to be encoded and partitioned."""
    group: list[OutgoingRecord] = []
    cost = 0
    for record in records:
        key_bytes = len(record.key or b"")
        weight = key_bytes * (HASHING_COST if record.partition is None else 1)
        weight += len(record.value or b"")
        if group and cost + weight > BYTES_AT_ONCE:
            yield group
            group, cost = [], 0
        group.append(record)
        cost += weight
    if group:
        yield group


def _until_broken(objects: Iterator[bytes | None]) -> Iterator[bytes | NotObjects | None]:
    """The objects of the body, and at the end the fault in it."""
    try:
        yield from objects
    except NotObjects as broken:
        yield broken


def _parsed(entry: bytes | dict[str, Any], also: frozenset[str] = frozenset()) -> _Parsed:
    try:
        return outgoing(parse_object(entry) if isinstance(entry, bytes) else entry, also)
    except RestError as refused:
        return refused


def _most_of_batch(admin: Admin) -> int:
    config = admin.broker.config
    return max(config.admin_request_max_bytes, config.message_max_bytes * JSON_GROWTH)


def _entries(body: Any) -> list[dict[str, Any]]:
    entries = body.get("entries") if isinstance(body, dict) else None
    if not isinstance(entries, list) or not 1 <= len(entries) <= MAX_ENTRIES:
        raise RestError(422, f"expected 1 to {MAX_ENTRIES} entries", BAD_RECORD)
    ids = [each.get("id") if isinstance(each, dict) else None for each in entries]
    if not all(
        isinstance(each, str) and 0 < len(each) <= 80 and encodable(each) == each for each in ids
    ):
        raise RestError(422, "entries: each has an id of 1 to 80 characters", BAD_RECORD)
    if len(set(ids)) < len(ids):
        raise RestError(422, "entries: two entries have the same id", BAD_RECORD)
    return entries


def _transactional_id(body: dict[str, Any]) -> str | None:
    """Given, or a new one; None: without a transaction."""
    requested = body.get("transaction")
    if requested is None:
        return None
    if not isinstance(requested, dict) or requested.keys() - {"transactional_id"}:
        raise RestError(422, "transaction: expected {} or a transactional_id", BAD_RECORD)
    given = requested.get("transactional_id")
    if given is None:
        return f"rest-{secrets.token_hex(8)}"
    if not isinstance(given, str) or not 0 < len(given) <= MAX_ID or encodable(given) != given:
        raise RestError(422, f"transactional_id: 1 to {MAX_ID} characters", BAD_RECORD)
    return given


def _line(body: dict[str, Any]) -> bytes:
    return orjson.dumps(body) + b"\n"
