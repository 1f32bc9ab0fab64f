"""Topics: list, look at, create, delete."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from application.topics.create import USE_DEFAULT, NewTopic
from domain.errors import BrokerError, UnknownTopicOrPartition
from domain.topics.topic import NO_TOPIC_ID, Topic
from interfaces.rest.admin import Admin
from interfaces.rest.answers import JsonAnswer, listing
from interfaces.rest.pending import value_of
from interfaces.rest.shapes.topics import CreateTopic, TopicBody, topic_body
from interfaces.rest.urls import Urls


def existing_topic(admin: Admin, name: str) -> Topic:
    topic = admin.broker.catalog.topic(name)
    if topic is None:
        raise UnknownTopicOrPartition("This server does not host this topic-partition.")
    return topic


def router(admin: Admin) -> APIRouter:
    routes = APIRouter(tags=["topics"])
    broker = admin.broker

    def urls(request: Request) -> Urls:
        return Urls(request, broker.cluster_id)

    @routes.get("/topics")
    async def list_topics(request: Request) -> Response:
        at = urls(request)
        topics = sorted(broker.catalog, key=lambda topic: topic.name)
        bodies = (topic_body(topic, broker.cluster_id, at) for topic in topics)
        return await listing("KafkaTopicList", at("topics"), bodies)

    @routes.post("/topics", status_code=201, response_model=TopicBody)
    async def create_topic(request: Request, wanted: CreateTopic) -> JsonAnswer:
        """Durable when it is answered; with `validate_only` nothing is made."""
        new = NewTopic(
            wanted.topic_name,
            USE_DEFAULT if wanted.partitions_count is None else wanted.partitions_count,
            USE_DEFAULT if wanted.replication_factor is None else wanted.replication_factor,
            [(one.partition_id, one.broker_ids) for one in wanted.replicas_assignments],
            wanted.texts(),
        )
        [created] = await value_of(broker.create_topics.create([new], wanted.validate_only))
        if isinstance(created, BrokerError):
            raise created
        at = urls(request)
        status = 200 if wanted.validate_only else 201
        answer = JsonAnswer(topic_body(created, broker.cluster_id, at), status)
        answer.headers["location"] = at("topics", created.name)
        return answer

    @routes.get("/topics/{topic_name}", response_model=TopicBody)
    async def get_topic(request: Request, topic_name: str) -> JsonAnswer:
        topic = existing_topic(admin, topic_name)
        return JsonAnswer(topic_body(topic, broker.cluster_id, urls(request)))

    @routes.delete("/topics/{topic_name}", status_code=204)
    async def delete_topic(topic_name: str) -> Response:
        """The name is free when it is answered; the data goes afterwards, in slices."""
        found = broker.delete_topics.find(topic_name, NO_TOPIC_ID)
        if isinstance(found, BrokerError):
            raise found
        [deleted] = await value_of(broker.delete_topics.delete([found]))
        if isinstance(deleted, BrokerError):
            raise deleted
        return Response(status_code=204)

    return routes
