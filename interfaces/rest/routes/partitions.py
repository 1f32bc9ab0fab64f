"""Partitions of a topic: start and end of their logs, and their replicas."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import Response

from domain.errors import NotLeaderOrFollower, StorageFailed
from domain.partitions.partition import Partition
from domain.topics.topic import Topic
from interfaces.rest.admin import Admin
from interfaces.rest.pages import Paged, index_key
from interfaces.rest.responses import JsonResponse, listing
from interfaces.rest.routes.resource import Routes, get
from interfaces.rest.shapes.common import ListOf
from interfaces.rest.shapes.partitions import (
    OffsetsBody,
    PartitionBody,
    ReplicaBody,
    offsets_body,
    partition_body,
    replica_body,
)
from interfaces.rest.urls import Urls

#: What Confluent's paths have in place of a topic's name.
EVERY_TOPIC = "-"


class PartitionRoutes(Routes):
    tag = "partitions"
    prefix = "/topics/{topic_name}/partitions"

    @get("", ListOf[PartitionBody])
    async def list_partitions(self, request: Request, topic_name: str, page: Paged) -> Response:
        at = self._urls(request)
        topic = self._topic(topic_name)
        url = at("topics", topic_name, "partitions")
        indexes, next_url = page.of(range(len(topic.partition_ids)), index_key, url)
        bodies = (
            partition_body(topic_name, index, self._readable(topic, index), self._node_id, at)
            for index in indexes
        )
        return await listing(self._admin, "KafkaPartitionList", url, bodies, next_url)

    def _readable(self, topic: Topic, index: int) -> Partition | None:
        try:
            # Loading a partition of a deleted topic would create its log again.
            if self._broker.catalog.topic_by_id(topic.topic_id) is None:
                return None
            return self._broker.catalog.partition(topic, index)
        except (NotLeaderOrFollower, StorageFailed):
            return None

    @get("/-/reassignment")
    async def list_reassignments(self, request: Request, topic_name: str) -> Response:
        """Always empty, as there is one broker. `-` stands for all topics."""
        if topic_name != EVERY_TOPIC:
            self._topic(topic_name)
        url = self._urls(request)("topics", topic_name, "partitions", "-", "reassignment")
        return await listing(self._admin, "KafkaReassignmentList", url, ())

    @get("/{partition_id}", PartitionBody)
    async def get_partition(
        self, request: Request, topic_name: str, partition_id: int
    ) -> JsonResponse:
        partition = self._partition(topic_name, partition_id)
        body = partition_body(
            topic_name, partition_id, partition, self._node_id, self._urls(request)
        )
        return JsonResponse(body)

    @get("/{partition_id}/offset", OffsetsBody)
    async def get_offsets(
        self, request: Request, topic_name: str, partition_id: int
    ) -> JsonResponse:
        """The log start offset and the high watermark."""
        partition = self._partition(topic_name, partition_id)
        at = self._urls(request)
        return JsonResponse(offsets_body(topic_name, partition_id, partition, at))

    @get("/{partition_id}/replicas", ListOf[ReplicaBody])
    async def list_replicas(self, request: Request, topic_name: str, partition_id: int) -> Response:
        self._partition(topic_name, partition_id)
        at = self._urls(request)
        url = at("topics", topic_name, "partitions", partition_id, "replicas")
        one = replica_body(topic_name, partition_id, self._node_id, at)
        return await listing(self._admin, "KafkaReplicaList", url, [one])

    @get("/{partition_id}/replicas/{broker_id}", ReplicaBody)
    async def get_replica(
        self, request: Request, topic_name: str, partition_id: int, broker_id: int
    ) -> JsonResponse:
        self._partition(topic_name, partition_id)
        self._check_broker(broker_id)
        return JsonResponse(replica_body(topic_name, partition_id, broker_id, self._urls(request)))


def replicas(admin: Admin, urls: Urls) -> Iterator[ReplicaBody]:
    """All replicas of this broker."""
    for topic in sorted(admin.broker.catalog, key=lambda one: one.name):
        for index in range(len(topic.partition_ids)):
            yield replica_body(topic.name, index, admin.broker.config.node_id, urls)
