"""Deleting records: all records of a topic, or those before an offset."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from pydantic import AliasChoices, Field
from starlette.requests import Request

from application.partitions.delete_records import LowWatermark, RecordsToDelete
from domain.errors import (
    BrokerError,
    InvalidRequest,
    OffsetOutOfRange,
    UnknownTopicOrPartition,
)
from domain.partitions.partition import UP_TO_HIGH_WATERMARK
from domain.security.access import Operation, ResourceType
from interfaces.rest.exchange import Exchange, exchange_of
from interfaces.rest.pending import value_of
from interfaces.rest.records.queries import Offset
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import Routes, post
from interfaces.rest.shapes.common import RequestModel, example
from interfaces.rest.slices import all_of as in_slices

MAX_TOPICS = 1000
#: Partitions per commit; other requests are served between two commits.
AT_ONCE = 50


class PartitionTruncated(RequestModel):
    partition_id: int = Field(
        ge=0, le=2**31 - 1, validation_alias=AliasChoices("partition_id", "partition")
    )
    offset: Offset | None = Field(
        None, description="Records before this offset are deleted; without it, all records."
    )


class TruncateTopic(
    RequestModel, json_schema_extra=example(partitions=[{"partition_id": 0, "offset": 1}])
):
    """Without partitions and offset: all records of all partitions."""

    partitions: list[PartitionTruncated] | None = Field(None, max_length=10_000)
    before_offset: Offset | None = Field(
        None, description="In every partition. A partition that ends before it keeps its records."
    )


class TruncateTopics(RequestModel, json_schema_extra=example(topic_names=["orders"])):
    topic_names: list[str] = Field(min_length=1, max_length=MAX_TOPICS)


class TruncateRoutes(Routes):
    tag = "records"

    @post("/topics/{topic_name}:truncate")
    async def truncate_topic(
        self, request: Request, topic_name: str, body: TruncateTopic | None = None
    ) -> JsonResponse:
        """Durable when the response comes. Offsets are not reused."""
        self._topic(topic_name)
        body = body or TruncateTopic.model_validate({})
        before = body.before_offset
        if body.partitions is not None and before is not None:
            raise InvalidRequest("either partitions, or one offset for all of them")
        if body.partitions is not None:
            chosen = [_of(topic_name, one.partition_id, one.offset) for one in body.partitions]
        else:
            chosen = await self._of_all(topic_name, before)
        results = await self._delete(request, chosen)
        # Kafka's tools report this partition by partition; one failure is easier to notice.
        if before is not None and all(isinstance(one, OffsetOutOfRange) for one in results):
            raise OffsetOutOfRange(
                f"The offset {before} lies beyond the end of every partition of {topic_name}; "
                "nothing is deleted."
            )
        outcomes = _outcomes(exchange_of(request), chosen, results)
        partitions = await in_slices(self._admin, outcomes)
        return JsonResponse({"topic_name": topic_name, "partitions": partitions})

    @post("/topics:truncate")
    async def truncate_topics(self, request: Request, body: TruncateTopics) -> JsonResponse:
        """All records of these topics. If one of the topics does not exist, none is changed."""
        exchange = exchange_of(request)
        for name in body.topic_names:
            exchange.require(Operation.DELETE, ResourceType.TOPIC, name)
        chosen = [await self._of_all(name, None) for name in dict.fromkeys(body.topic_names)]
        all_at_once = [one for topic in chosen for one in topic]
        results = await self._delete(request, all_at_once)
        outcomes = iter(await in_slices(self._admin, _outcomes(exchange, all_at_once, results)))
        topics = [
            {"topic_name": topic[0].topic, "partitions": [next(outcomes) for _ in topic]}
            for topic in chosen
        ]
        return JsonResponse({"topics": topics})

    async def _of_all(self, topic_name: str, offset: int | None) -> list[RecordsToDelete]:
        count = len(self._topic(topic_name).partition_ids)
        return await in_slices(
            self._admin, (_of(topic_name, index, offset) for index in range(count))
        )

    async def _delete(self, request: Request, chosen: list[RecordsToDelete]) -> list[LowWatermark]:
        delete, by = self._broker.messages.delete_records.delete, exchange_of(request).requester
        results: list[LowWatermark] = []
        for start in range(0, len(chosen), AT_ONCE):
            some = chosen[start : start + AT_ONCE]
            moved = await value_of(delete(some, by))
            results += moved
            await asyncio.sleep(0)  # without records to delete there is no commit to wait for
        return results


def _of(topic: str, index: int, offset: int | None) -> RecordsToDelete:
    return RecordsToDelete(topic, index, UP_TO_HIGH_WATERMARK if offset is None else offset)


def _outcomes(
    exchange: Exchange, chosen: list[RecordsToDelete], results: list[LowWatermark]
) -> Iterator[dict[str, Any]]:
    """The new log start offset of each partition, or why no record was deleted."""
    for one, result in zip(chosen, results, strict=True):
        if isinstance(result, UnknownTopicOrPartition):
            result = UnknownTopicOrPartition(f"Topic {one.topic} has no partition {one.index}.")
        if isinstance(result, BrokerError):
            yield {"partition_id": one.index} | exchange.refuse(result)
        else:
            yield {"partition_id": one.index, "log_start_offset": result}
