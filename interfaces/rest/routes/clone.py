"""Cloning a topic, with or without its records."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import orjson
from pydantic import AliasChoices, Field
from starlette.requests import Request
from starlette.responses import Response

from application.records.clone import Copying
from domain.errors import BrokerError
from domain.security.access import Operation, ResourceType
from domain.topics.topic import Topic
from interfaces.rest.exchange import Exchange, exchange_of, require_create
from interfaces.rest.pending import only, value_of, when_loaded
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import Routes, post
from interfaces.rest.shapes.common import RequestModel, example
from interfaces.rest.shapes.topics import Configs, TopicBody, texts_of
from interfaces.rest.streaming import Streamed

#: Between two lines of progress.
BYTES_PER_LINE = 4 * 2**20


class CloneTopic(RequestModel, json_schema_extra=example(name="orders-copy", records=True)):
    topic_name: str = Field(validation_alias=AliasChoices("name", "topic_name"))
    configs: Configs = Field(
        default=[], description="They replace the source's; null: the default."
    )
    records: bool = Field(False, description="Copy the records too.")


class CloneRoutes(Routes):
    tag = "records"

    @post(
        "/topics/{topic_name}:clone",
        TopicBody,
        status_code=201,
        responses={200: {"content": {"application/x-ndjson": {}}, "description": "Progress."}},
    )
    async def clone_topic(self, request: Request, topic_name: str, body: CloneTopic) -> Response:
        """Creates a topic with as many partitions and the same configs.

        With `records` the response is lines of JSON with the progress. The last line has `done`,
        or an `error_code`: then the new topic is deleted.
        """
        clone = self._broker.messages.clone
        exchange = exchange_of(request)
        require_create(exchange, body.topic_name)
        exchange.require(Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, topic_name)
        if body.records:
            exchange.require(Operation.WRITE, ResourceType.TOPIC, body.topic_name)
        configs, by = texts_of(body.configs), exchange.requester
        name, with_records = body.topic_name, body.records
        created = await only(lambda: clone.create(topic_name, name, configs, by, with_records))
        if not body.records:
            return JsonResponse(self._topic_body(created, self._urls(request)), 201)
        try:
            copying = await when_loaded(lambda: clone.copy(topic_name, created))
        except BaseException:  # also the end of the request
            clone.remove(created)
            raise
        unfinished = [created]

        def close() -> None:
            for topic in unfinished:
                clone.remove(topic)

        lines = _lines(exchange_of(request), copying, created, unfinished)
        return Streamed(lines, "application/x-ndjson", close=close)


async def _lines(
    exchange: Exchange, copying: Copying, created: Topic, unfinished: list[Topic]
) -> AsyncGenerator[bytes, None]:
    reported_bytes = 0
    while True:
        cloned = await value_of(copying.next())
        if isinstance(cloned, BrokerError):
            yield _line(exchange.refuse(cloned) | {"done": False})
            return
        if cloned.done:
            unfinished.clear()
        if cloned.done or cloned.bytes - reported_bytes >= BYTES_PER_LINE:
            reported_bytes = cloned.bytes
            yield _line(
                {
                    "topic_name": created.name,
                    "partitions_count": len(created.partition_ids),
                    "copied_records": cloned.records,
                    "total_records": copying.total,
                    "copied_bytes": cloned.bytes,
                    "done": cloned.done,
                }
            )
        if cloned.done:
            return


def _line(body: dict[str, Any]) -> bytes:
    return orjson.dumps(body) + b"\n"
