"""Topics: list, get, create, change, delete."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from application.configs.alter import RequestedConfigs
from application.ports.request_log import Requester
from application.topics.create import USE_DEFAULT, NewTopic
from application.topics.partitions import MorePartitions
from domain.configs.alteration import Alteration, Operation
from domain.configs.effects import without_effect
from domain.configs.resource import Resource, ResourceKind
from domain.errors import BrokerError
from domain.security.access import Operation as Right
from domain.security.access import ResourceType
from domain.topics.topic import NO_TOPIC_ID, Topic
from interfaces.rest.exchange import exchange_of, require_create
from interfaces.rest.pages import Paged
from interfaces.rest.pending import only, value_of
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import Routes, delete, get, post, route
from interfaces.rest.shapes.common import ListOf
from interfaces.rest.shapes.partitions import PartitionCompaction, PartitionRetention
from interfaces.rest.shapes.topics import ChangeTopic, CreateTopic, TopicBody, texts_of


class TopicRoutes(Routes):
    tag = "topics"

    @get("/topics", ListOf[TopicBody])
    async def list_topics(self, request: Request, page: Paged) -> Response:
        found = self._describable(request, ResourceType.TOPIC, self._broker.catalog, _name)
        topics = sorted(found, key=_name)
        return await self._page(request, "KafkaTopicList", page, topics, _name, self._topic_body)

    @post("/topics", TopicBody, status_code=201, responses={200: {"model": TopicBody}})
    async def create_topic(self, request: Request, body: CreateTopic) -> JsonResponse:
        """Durable when the response comes. `validate_only` creates nothing; the status is 200."""
        exchange = exchange_of(request)
        require_create(exchange, body.topic_name)
        new = NewTopic(
            body.topic_name,
            USE_DEFAULT if body.partitions_count is None else body.partitions_count,
            USE_DEFAULT if body.replication_factor is None else body.replication_factor,
            [(one.partition_id, one.broker_ids) for one in body.replicas_assignments],
            texts_of(body.configs),
        )
        create, by = self._broker.topics.create_topics, exchange.requester
        created = await only(lambda: create.create([new], body.validate_only, by))
        at = self._urls(request)
        status = 200 if body.validate_only else 201
        location = None if body.validate_only else {"location": at("topics", created.name)}
        factor = create.factor(new) if body.validate_only else None
        shown = self._topic_body(created, at, _warnings(new.configs), factor)
        return JsonResponse(shown, status, location)

    @get("/topics/{topic_name}", TopicBody)
    async def get_topic(self, request: Request, topic_name: str) -> JsonResponse:
        return JsonResponse(self._topic_body(self._topic(topic_name), self._urls(request)))

    @get("/topics/{topic_name}/retention", ListOf[PartitionRetention])
    async def get_retention(self, request: Request, topic_name: str) -> Response:
        """The age of the oldest records of each partition, and when retention removes them."""
        outlook = await value_of(self._broker.retention.outlook(self._topic(topic_name)))
        rows = (
            PartitionRetention(
                partition_id=one.partition_index,
                size_bytes=one.size_bytes,
                oldest_timestamp=one.oldest_timestamp,
                expires_at=one.expires_ms,
            )
            for one in outlook
        )
        return await self._list(request, "TopicRetention", rows)

    @get("/topics/{topic_name}/compaction", ListOf[PartitionCompaction])
    async def get_compaction(self, request: Request, topic_name: str) -> Response:
        """How dirty the log of each partition is, and what compaction removed since the start."""
        topic = self._topic(topic_name)
        state = await value_of(self._broker.compaction.state(topic))
        rows = (
            PartitionCompaction(
                partition_id=one.log.partition.index,
                first_dirty_offset=one.log.first_dirty_offset,
                first_uncleanable_offset=one.log.first_uncleanable_offset,
                uncleanable_reason=one.uncleanable and one.uncleanable.value,
                dirty_ratio=one.log.dirty_ratio,
                compacted_at=one.last_pass.at_ms if one.last_pass else None,
                records_removed=one.last_pass.records_removed if one.last_pass else 0,
            )
            for one in state
        )
        return await self._list(request, "TopicCompaction", rows)

    @route("PATCH", "/topics/{topic_name}", TopicBody)
    async def change_topic(
        self, request: Request, topic_name: str, body: ChangeTopic
    ) -> JsonResponse:
        """Adds partitions and alters configs; null resets a config to its default."""
        exchange = exchange_of(request)
        configs = texts_of(body.configs)
        if body.partitions_count is not None:
            exchange.require(Right.ALTER, ResourceType.TOPIC, topic_name)
        if configs:
            exchange.require(Right.ALTER_CONFIGS, ResourceType.TOPIC, topic_name)
        exchange.require(Right.DESCRIBE, ResourceType.TOPIC, topic_name)
        topic = self._topic(topic_name)
        count, by = body.partitions_count, exchange.requester
        if count == len(topic.partition_ids):
            count = None
        # Both changes are validated before either is made.
        if count is not None:
            await self._grow(topic_name, count, True, by)
        if configs:
            await self._configure(topic_name, configs, body.validate_only, by)
        if count is not None and not body.validate_only:
            await self._grow(topic_name, count, False, by)
        changed = self._topic(topic_name)
        return JsonResponse(self._topic_body(changed, self._urls(request), _warnings(configs)))

    @delete("/topics/{topic_name}")
    async def delete_topic(self, request: Request, topic_name: str) -> Response:
        """The name is free when the response comes; a background job deletes the data."""
        self._topic(topic_name)
        topics, by = self._broker.topics.delete_topics, exchange_of(request).requester
        found = topics.find(topic_name, NO_TOPIC_ID)
        if isinstance(found, BrokerError):
            raise found
        await only(lambda: topics.delete([found], by))
        return Response(status_code=204)

    async def _configure(
        self, name: str, configs: Mapping[str, str | None], validate_only: bool, by: Requester
    ) -> None:
        alterations = [
            Alteration(config, Operation.DELETE if text is None else Operation.SET, text or "")
            for config, text in configs.items()
        ]
        requested = RequestedConfigs(Resource(ResourceKind.TOPIC, name), alterations)
        alter = self._broker.configs.alter_configs.alter
        await only(lambda: alter([requested], validate_only, by))

    async def _grow(self, name: str, total: int, validate_only: bool, by: Requester) -> None:
        grow = self._broker.topics.create_partitions.grow
        await only(lambda: grow([MorePartitions(name, total, None)], validate_only, by))


def _name(topic: Topic) -> str:
    return topic.name


def _warnings(configs: Mapping[str, str | None]) -> list[str]:
    return [one.warning for one in without_effect(ResourceKind.TOPIC, configs)]
