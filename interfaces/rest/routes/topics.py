"""Topics: list, look at, create, change, delete."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter
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
from domain.topics.topic import NO_TOPIC_ID, Topic
from interfaces.rest.answers import JsonAnswer, listing
from interfaces.rest.exchange import exchange_of
from interfaces.rest.pages import Paged
from interfaces.rest.pending import value_of
from interfaces.rest.routes.resource import Routes
from interfaces.rest.shapes.topics import (
    ChangeTopic,
    CreateTopic,
    TopicBody,
    TopicList,
    texts_of,
    topic_body,
)


class TopicRoutes(Routes):
    def router(self) -> APIRouter:
        routes = APIRouter(tags=["topics"])
        routes.get("/topics", response_model=TopicList)(self.list_topics)
        routes.post(
            "/topics",
            status_code=201,
            response_model=TopicBody,
            responses={200: {"model": TopicBody}},
        )(self.create_topic)
        routes.get("/topics/{topic_name}", response_model=TopicBody)(self.get_topic)
        routes.patch("/topics/{topic_name}", response_model=TopicBody)(self.change_topic)
        routes.delete("/topics/{topic_name}", status_code=204)(self.delete_topic)
        return routes

    async def list_topics(self, request: Request, page: Paged) -> Response:
        at = self._urls(request)
        topics = sorted(self._broker.catalog, key=_name)
        shown, next_url = page.of(topics, _name, at("topics"))
        bodies = (topic_body(topic, at) for topic in shown)
        return await listing(self._admin, "KafkaTopicList", at("topics"), bodies, next_url)

    async def create_topic(self, request: Request, wanted: CreateTopic) -> JsonAnswer:
        """Durable when it is answered; with `validate_only` nothing is made, and the answer 200."""
        new = NewTopic(
            wanted.topic_name,
            USE_DEFAULT if wanted.partitions_count is None else wanted.partitions_count,
            USE_DEFAULT if wanted.replication_factor is None else wanted.replication_factor,
            [(one.partition_id, one.broker_ids) for one in wanted.replicas_assignments],
            texts_of(wanted.configs),
        )
        [created] = await value_of(
            self._broker.topics.create_topics.create(
                [new], wanted.validate_only, exchange_of(request).requester
            )
        )
        if isinstance(created, BrokerError):
            raise created
        at = self._urls(request)
        status = 200 if wanted.validate_only else 201
        answer = JsonAnswer(topic_body(created, at, _warnings(new.configs)), status)
        if not wanted.validate_only:
            answer.headers["location"] = at("topics", created.name)
        return answer

    async def get_topic(self, request: Request, topic_name: str) -> JsonAnswer:
        return JsonAnswer(topic_body(self._topic(topic_name), self._urls(request)))

    async def change_topic(
        self, request: Request, topic_name: str, wanted: ChangeTopic
    ) -> JsonAnswer:
        """More partitions, never fewer, and configs; null takes a config back to its default."""
        topic = self._topic(topic_name)
        configs = texts_of(wanted.configs)
        count, by = wanted.partitions_count, exchange_of(request).requester
        if count == len(topic.partition_ids):
            count = None
        # Both are checked before one of them is done.
        if count is not None:
            await self._grow(topic_name, count, True, by)
        if configs:
            await self._configure(topic_name, configs, wanted.validate_only, by)
        if count is not None and not wanted.validate_only:
            await self._grow(topic_name, count, False, by)
        changed = self._topic(topic_name)
        return JsonAnswer(topic_body(changed, self._urls(request), _warnings(configs)))

    async def delete_topic(self, request: Request, topic_name: str) -> Response:
        """The name is free when it is answered; the data goes afterwards, in slices."""
        self._topic(topic_name)
        found = self._broker.topics.delete_topics.find(topic_name, NO_TOPIC_ID)
        if isinstance(found, BrokerError):
            raise found
        by = exchange_of(request).requester
        [deleted] = await value_of(self._broker.topics.delete_topics.delete([found], by))
        if isinstance(deleted, BrokerError):
            raise deleted
        return Response(status_code=204)

    async def _configure(
        self, name: str, configs: Mapping[str, str | None], validate_only: bool, by: Requester
    ) -> None:
        alterations = [
            Alteration(config, Operation.DELETE if text is None else Operation.SET, text or "")
            for config, text in configs.items()
        ]
        wanted = RequestedConfigs(Resource(ResourceKind.TOPIC, name), alterations)
        [refused] = await value_of(
            self._broker.configs.alter_configs.alter([wanted], validate_only, by)
        )
        if refused is not None:
            raise refused

    async def _grow(self, name: str, total: int, validate_only: bool, by: Requester) -> None:
        grow = self._broker.topics.create_partitions.grow
        [grown] = await value_of(grow([MorePartitions(name, total, None)], validate_only, by))
        if isinstance(grown, BrokerError):
            raise grown


def _name(topic: Topic) -> str:
    return topic.name


def _warnings(configs: Mapping[str, str | None]) -> list[str]:
    return [one.warning for one in without_effect(ResourceKind.TOPIC, configs)]
