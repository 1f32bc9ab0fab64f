"""Partitions of a topic: start and end of their logs, and their replicas."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from domain.errors import NotLeaderOrFollower, StorageFailed
from domain.partitions.partition import Partition
from domain.topics.topic import Topic
from interfaces.rest.pages import Paged, index_key
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import Routes, get
from interfaces.rest.shapes.common import ListOf, body
from interfaces.rest.shapes.partitions import OffsetsBody, PartitionBody, ReplicaBody
from interfaces.rest.urls import Urls

#: What Confluent's paths have in place of a topic's name.
EVERY_TOPIC = "-"


class PartitionRoutes(Routes):
    tag = "partitions"
    prefix = "/topics/{topic_name}/partitions"

    @get("", ListOf[PartitionBody])
    async def list_partitions(self, request: Request, topic_name: str, page: Paged) -> Response:
        topic = self._topic(topic_name)

        def partition_body(index: int, at: Urls) -> dict[str, Any]:
            return self._body(topic_name, index, self._readable(topic, index), at)

        indexes = range(len(topic.partition_ids))
        return await self._page(
            request, "KafkaPartitionList", page, indexes, index_key, partition_body
        )

    def _body(
        self, topic_name: str, index: int, partition: Partition | None, at: Urls
    ) -> dict[str, Any]:
        names: dict[str, Any] = {
            "topic_name": topic_name,
            "partition_id": index,
            "node_id": self._node_id,
        }
        return body(PartitionBody, at, partition, **names)

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
        return await self._list(request, "KafkaReassignmentList", ())

    @get("/{partition_id}", PartitionBody)
    async def get_partition(
        self, request: Request, topic_name: str, partition_id: int
    ) -> JsonResponse:
        partition = self._partition(topic_name, partition_id)
        return JsonResponse(self._body(topic_name, partition_id, partition, self._urls(request)))

    @get("/{partition_id}/offset", OffsetsBody)
    async def get_offsets(
        self, request: Request, topic_name: str, partition_id: int
    ) -> JsonResponse:
        """The log start offset and the high watermark."""
        partition = self._partition(topic_name, partition_id)
        names: dict[str, Any] = {"topic_name": topic_name, "partition_id": partition_id}
        return JsonResponse(body(OffsetsBody, self._urls(request), partition, **names))

    @get("/{partition_id}/replicas", ListOf[ReplicaBody])
    async def list_replicas(self, request: Request, topic_name: str, partition_id: int) -> Response:
        self._partition(topic_name, partition_id)
        replica = self._replica(topic_name, partition_id, self._urls(request))
        return await self._list(request, "KafkaReplicaList", [replica])

    @get("/{partition_id}/replicas/{broker_id}", ReplicaBody)
    async def get_replica(
        self, request: Request, topic_name: str, partition_id: int, broker_id: int
    ) -> JsonResponse:
        self._partition(topic_name, partition_id)
        self._check_broker(broker_id)
        return JsonResponse(self._replica(topic_name, partition_id, self._urls(request)))
