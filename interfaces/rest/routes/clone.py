"""Topics as a whole: emptied, or copied."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import orjson
from fastapi import APIRouter
from pydantic import AliasChoices, Field
from starlette.requests import Request
from starlette.responses import Response

from application.records.clone import Copying
from domain.errors import BrokerError
from domain.topics.topic import Topic
from interfaces.rest.answers import JsonAnswer
from interfaces.rest.exchange import Exchange, exchange_of
from interfaces.rest.pending import value_of
from interfaces.rest.routes.resource import Routes
from interfaces.rest.shapes.common import Asked
from interfaces.rest.shapes.topics import Configs, TopicBody, texts_of, topic_body
from interfaces.rest.streaming import Streamed

#: Between two lines that say how far it has come.
BYTES_PER_LINE = 4 * 2**20


class CloneTopic(Asked):
    topic_name: str = Field(validation_alias=AliasChoices("name", "topic_name"))
    configs: Configs = Field(
        default=[], description="Other than those of the source; null: not that one."
    )
    records: bool = Field(False, description="Whether the records are copied too.")


class CloneRoutes(Routes):
    def router(self) -> APIRouter:
        routes = APIRouter(tags=["records"])
        routes.post(
            "/topics/{topic_name}:clone",
            status_code=201,
            response_model=TopicBody,
            responses={200: {"content": {"application/x-ndjson": {}}, "description": "Progress."}},
        )(self.clone_topic)
        return routes

    async def clone_topic(self, request: Request, topic_name: str, wanted: CloneTopic) -> Response:
        """A topic with as many partitions and the same configs.

        With `records` the answer is a line of JSON now and then, which says how far it has come;
        the last one has `done`, or an `error_code`, and then there is no new topic.
        """
        clone = self._broker.messages.clone
        [created] = await value_of(
            clone.create(
                topic_name,
                wanted.topic_name,
                texts_of(wanted.configs),
                exchange_of(request).requester,
            )
        )
        if isinstance(created, BrokerError):
            raise created
        if not wanted.records:
            urls = self._urls(request)
            return JsonAnswer(topic_body(created, urls), 201)
        try:
            copying = clone.copy(topic_name, created)
        except BrokerError:
            self._remove(created)
            raise
        unfinished = [created]

        def gone() -> None:
            for topic in unfinished:
                self._remove(topic)

        lines = _lines(exchange_of(request), copying, created, unfinished)
        return Streamed(lines, "application/x-ndjson", close=gone)

    def _remove(self, topic: Topic) -> None:
        """Half a copy is of no use."""
        found = self._broker.topics.delete_topics.find(None, topic.topic_id)
        if not isinstance(found, BrokerError):
            self._broker.topics.delete_topics.delete([found])


async def _lines(
    exchange: Exchange, copying: Copying, created: Topic, unfinished: list[Topic]
) -> AsyncGenerator[bytes, None]:
    told_bytes = 0
    while True:
        cloned = await value_of(copying.next())
        if isinstance(cloned, BrokerError):
            yield _line(exchange.refuse(cloned) | {"done": False})
            return
        if cloned.done:
            unfinished.clear()
        if cloned.done or cloned.bytes - told_bytes >= BYTES_PER_LINE:
            told_bytes = cloned.bytes
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
