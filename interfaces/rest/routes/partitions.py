"""Partitions of a topic: where their logs begin and end, and who has them."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from domain.errors import StorageFailed, UnknownTopicOrPartition
from domain.partitions.partition import Partition
from domain.topics.topic import Topic
from interfaces.rest.admin import Admin
from interfaces.rest.answers import JsonAnswer, listing
from interfaces.rest.errors import RestError
from interfaces.rest.pages import Paged, index_key
from interfaces.rest.routes.topics import existing_topic
from interfaces.rest.shapes.common import resource
from interfaces.rest.shapes.partitions import (
    OffsetsBody,
    PartitionBody,
    PartitionList,
    ReplicaBody,
    ReplicaList,
    partition_body,
    replica_body,
)
from interfaces.rest.urls import Urls

#: In Confluent's paths.
EVERY_TOPIC = "-"


def existing_partition(admin: Admin, topic_name: str, index: int) -> Partition:
    partition = admin.broker.catalog.partition(existing_topic(admin, topic_name), index)
    if partition is None:
        raise UnknownTopicOrPartition(f"Topic {topic_name} has no partition {index}.")
    return partition


def router(admin: Admin) -> APIRouter:
    routes = APIRouter(prefix="/topics/{topic_name}/partitions", tags=["partitions"])
    broker = admin.broker
    node_id = broker.config.node_id

    def urls(request: Request) -> Urls:
        return Urls(request, broker.cluster_id)

    @routes.get("", response_model=PartitionList)
    async def list_partitions(request: Request, topic_name: str, page: Paged) -> Response:
        at = urls(request)
        topic = existing_topic(admin, topic_name)
        url = at("topics", topic_name, "partitions")
        indexes, next_url = page.of(range(len(topic.partition_ids)), index_key, url)
        bodies = (
            partition_body(topic_name, index, readable(topic, index), node_id, at)
            for index in indexes
        )
        return await listing(admin, "KafkaPartitionList", url, bodies, next_url)

    def readable(topic: Topic, index: int) -> Partition | None:
        try:
            # Of a topic that is deleted meanwhile nothing may be made again.
            if broker.catalog.topic_by_id(topic.topic_id) is None:
                return None
            return broker.catalog.partition(topic, index)
        except StorageFailed:
            return None

    @routes.get("/-/reassignment")
    async def list_reassignments(request: Request, topic_name: str) -> Response:
        """There are none: there is one broker. `-` is every topic."""
        if topic_name != EVERY_TOPIC:
            existing_topic(admin, topic_name)
        url = urls(request)("topics", topic_name, "partitions", "-", "reassignment")
        return await listing(admin, "KafkaReassignmentList", url, ())

    @routes.get("/{partition_id}", response_model=PartitionBody)
    async def get_partition(request: Request, topic_name: str, partition_id: int) -> JsonAnswer:
        partition = existing_partition(admin, topic_name, partition_id)
        body = partition_body(topic_name, partition_id, partition, node_id, urls(request))
        return JsonAnswer(body)

    @routes.get("/{partition_id}/offset", response_model=OffsetsBody)
    async def get_offsets(request: Request, topic_name: str, partition_id: int) -> JsonAnswer:
        """Where the log begins, and where it ends for consumers."""
        partition = existing_partition(admin, topic_name, partition_id)
        at = urls(request)
        name = resource(at.cluster_id, ("topic", topic_name), ("partition", partition_id))
        body: OffsetsBody = {
            "kind": "KafkaPartitionOffset",
            "metadata": {
                "self": at("topics", topic_name, "partitions", partition_id, "offset"),
                "resource_name": name,
            },
            "cluster_id": at.cluster_id,
            "topic_name": topic_name,
            "partition_id": partition_id,
            "beginning_offset": partition.log_start_offset,
            "end_offset": partition.high_watermark,
        }
        return JsonAnswer(body)

    @routes.get("/{partition_id}/replicas", response_model=ReplicaList)
    async def list_replicas(request: Request, topic_name: str, partition_id: int) -> Response:
        existing_partition(admin, topic_name, partition_id)
        at = urls(request)
        url = at("topics", topic_name, "partitions", partition_id, "replicas")
        one = replica_body(topic_name, partition_id, node_id, at)
        return await listing(admin, "KafkaReplicaList", url, [one])

    @routes.get("/{partition_id}/replicas/{broker_id}", response_model=ReplicaBody)
    async def get_replica(
        request: Request, topic_name: str, partition_id: int, broker_id: int
    ) -> JsonAnswer:
        existing_partition(admin, topic_name, partition_id)
        if broker_id != node_id:
            raise RestError(404, f"there is no broker {broker_id}", 40411)
        return JsonAnswer(replica_body(topic_name, partition_id, broker_id, urls(request)))

    return routes


def replicas(admin: Admin, urls: Urls) -> Iterator[ReplicaBody]:
    """Of everything this broker has."""
    for topic in sorted(admin.broker.catalog, key=lambda one: one.name):
        for index in range(len(topic.partition_ids)):
            yield replica_body(topic.name, index, admin.broker.config.node_id, urls)
