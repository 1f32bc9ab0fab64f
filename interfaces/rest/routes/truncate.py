"""Records are deleted: all of a topic's, or those before an offset."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from pydantic import AliasChoices, Field
from starlette.requests import Request
from starlette.responses import Response

from application.partitions.delete_records import LowWatermark, RecordsToDelete
from domain.errors import (
    BrokerError,
    InvalidRequest,
    OffsetOutOfRange,
    UnknownTopicOrPartition,
)
from domain.partitions.partition import UP_TO_HIGH_WATERMARK
from interfaces.rest.admin import Admin
from interfaces.rest.answers import JsonAnswer
from interfaces.rest.exchange import Exchange, exchange_of
from interfaces.rest.pending import value_of
from interfaces.rest.records.wanted import MAX_OFFSET
from interfaces.rest.routes.resource import Routes
from interfaces.rest.shapes.common import Asked
from interfaces.rest.slices import all_of as in_slices

MAX_TOPICS = 1000
#: Of partitions; each so many are a commit, so that others get their turns between them.
AT_ONCE = 50


class PartitionTruncated(Asked):
    partition_id: int = Field(
        ge=0, le=2**31 - 1, validation_alias=AliasChoices("partition_id", "partition")
    )
    offset: int | None = Field(
        None, ge=0, le=MAX_OFFSET, description="The first to be kept; without it, none is."
    )


class TruncateTopic(Asked):
    """Without anything: all records of all partitions."""

    partitions: list[PartitionTruncated] | None = Field(None, max_length=10_000)
    before_offset: int | None = Field(
        None,
        ge=0,
        le=MAX_OFFSET,
        description="In every partition; one that ends earlier is refused, and keeps its records.",
    )


class TruncateTopics(Asked):
    topic_names: list[str] = Field(min_length=1, max_length=MAX_TOPICS)


class TruncateRoutes(Routes):
    def router(self) -> APIRouter:
        routes = APIRouter(tags=["records"])
        routes.post("/topics/{topic_name}:truncate")(self.truncate_topic)
        routes.post("/topics:truncate")(self.truncate_topics)
        return routes

    async def _deleted(
        self, exchange: Exchange, wanted: list[RecordsToDelete]
    ) -> list[LowWatermark]:
        delete = self._broker.messages.delete_records.delete
        marks: list[LowWatermark] = []
        for start in range(0, len(wanted), AT_ONCE):
            some = wanted[start : start + AT_ONCE]
            moved = await value_of(delete(some, exchange.requester))
            marks += moved
            await asyncio.sleep(0)  # where nothing moved there was no commit to wait for
        return marks

    async def _truncated(
        self, exchange: Exchange, wanted: list[RecordsToDelete]
    ) -> list[dict[str, Any]]:
        return await _told(self._admin, exchange, wanted, await self._deleted(exchange, wanted))

    async def _all_of(
        self, topic_name: str, offset: int = UP_TO_HIGH_WATERMARK
    ) -> list[RecordsToDelete]:
        count = len(self._topic(topic_name).partition_ids)
        wanted = (RecordsToDelete(topic_name, each, offset) for each in range(count))
        return await in_slices(self._admin, wanted)

    async def _before(
        self, exchange: Exchange, topic_name: str, offset: int
    ) -> list[dict[str, Any]]:
        """As Kafka's tools: a partition that ends before the offset is refused, and left alone."""
        wanted = await self._all_of(topic_name, offset)
        marks = await self._deleted(exchange, wanted)
        if all(isinstance(mark, OffsetOutOfRange) for mark in marks):
            raise OffsetOutOfRange(
                f"The offset {offset} lies beyond the end of every partition of {topic_name}; "
                "nothing is deleted."
            )
        return await _told(self._admin, exchange, wanted, marks)

    async def truncate_topic(
        self, request: Request, topic_name: str, wanted: TruncateTopic | None = None
    ) -> Response:
        """Durable when it is answered; offsets go on where they were."""
        self._topic(topic_name)
        exchange = exchange_of(request)
        wanted = wanted or TruncateTopic.model_validate({})
        if wanted.partitions is not None and wanted.before_offset is not None:
            raise InvalidRequest("either partitions, or one offset for all of them")
        if wanted.partitions is not None:
            chosen = [
                RecordsToDelete(
                    topic_name,
                    each.partition_id,
                    UP_TO_HIGH_WATERMARK if each.offset is None else each.offset,
                )
                for each in wanted.partitions
            ]
            partitions = await self._truncated(exchange, chosen)
        elif wanted.before_offset is not None:
            partitions = await self._before(exchange, topic_name, wanted.before_offset)
        else:
            partitions = await self._truncated(exchange, await self._all_of(topic_name))
        return JsonAnswer({"topic_name": topic_name, "partitions": partitions})

    async def truncate_topics(self, request: Request, wanted: TruncateTopics) -> Response:
        """All records of all of these topics; none of them is touched if one is not there."""
        chosen = [await self._all_of(name) for name in dict.fromkeys(wanted.topic_names)]
        all_at_once = [one for topic in chosen for one in topic]
        marks = iter(await self._truncated(exchange_of(request), all_at_once))
        topics = [
            {"topic_name": topic[0].topic, "partitions": [next(marks) for _ in topic]}
            for topic in chosen
        ]
        return JsonAnswer({"topics": topics})


async def _told(
    admin: Admin, exchange: Exchange, wanted: list[RecordsToDelete], marks: list[LowWatermark]
) -> list[dict[str, Any]]:
    told = (
        {"partition_id": one.index} | _outcome(exchange, one, mark)
        for one, mark in zip(wanted, marks, strict=True)
    )
    return await in_slices(admin, told)


def _outcome(exchange: Exchange, one: RecordsToDelete, mark: LowWatermark) -> dict[str, Any]:
    """Where the log starts now, or why no record was deleted."""
    if isinstance(mark, UnknownTopicOrPartition):
        mark = UnknownTopicOrPartition(f"Topic {one.topic} has no partition {one.index}.")
    if isinstance(mark, BrokerError):
        return exchange.refuse(mark)
    return {"log_start_offset": mark}
