"""Partitions of a topic: start and end of their logs, leaders, replicas, reassignments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from application.cluster.replicas import ReplicasOf
from domain.cluster.nodes import NO_LEADER
from domain.errors import NotLeaderOrFollower, StorageFailed
from domain.partitions.partition import Partition
from domain.security.access import ResourceType
from domain.topics.topic import Topic
from interfaces.rest.errors import RestError
from interfaces.rest.pages import Paged, index_key
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import Routes, get
from interfaces.rest.shapes.common import ListOf, body
from interfaces.rest.shapes.partitions import (
    OffsetsBody,
    PartitionBody,
    ReassignmentBody,
    ReplicaBody,
)
from interfaces.rest.urls import Urls

#: What Confluent's paths have in place of a topic's name.
EVERY_TOPIC = "-"


class PartitionRoutes(Routes):
    tag = "partitions"
    prefix = "/topics/{topic_name}/partitions"

    @get("", ListOf[PartitionBody])
    async def list_partitions(self, request: Request, topic_name: str, page: Paged) -> Response:
        topic = self._topic(topic_name)
        indexes = range(len(topic.partition_ids))
        shown, _ = page.of(indexes, index_key, "")
        await self._load((topic_name, index) for index in shown)

        def partition_body(index: int, at: Urls) -> dict[str, Any]:
            return self._body(topic, index, self._readable(topic, index), at)

        return await self._page(
            request, "KafkaPartitionList", page, indexes, index_key, partition_body
        )

    def _body(
        self, topic: Topic, index: int, partition: Partition | None, at: Urls
    ) -> dict[str, Any]:
        found = ReplicasOf(self._broker.placement)(topic.partition_ids[index])
        is_led = found.leader_id != NO_LEADER.node_id
        return body(
            PartitionBody,
            at,
            partition,
            topic_name=topic.name,
            partition_id=index,
            node_id=found.leader_id,
            leader_id=found.leader_id if is_led else None,
            leader_epoch=found.leader_epoch,
            replica_ids=found.replicas,
            in_sync_replica_ids=found.in_sync,
        )

    def _readable(self, topic: Topic, index: int) -> Partition | None:
        try:
            # Loading a partition of a deleted topic would create its log again.
            if self._broker.catalog.topic_by_id(topic.topic_id) is None:
                return None
            return self._broker.catalog.loaded_now(topic, index)
        except (NotLeaderOrFollower, StorageFailed):
            return None

    @get("/-/reassignment", ListOf[ReassignmentBody])
    async def list_reassignments(self, request: Request, topic_name: str) -> Response:
        """Those under way; `-` stands for all topics."""
        if topic_name == EVERY_TOPIC:
            catalog = self._broker.catalog
            topics = self._describable(request, ResourceType.TOPIC, catalog, attrgetter("name"))
        else:
            topics = [self._topic(topic_name)]
        found = self._reassignments(
            request, ((one.name, range(len(one.partition_ids))) for one in topics)
        )
        return await self._list(request, "KafkaReassignmentList", found)

    def _reassignments(
        self, request: Request, topics: Iterable[tuple[str, Sequence[int]]]
    ) -> list[dict[str, Any]]:
        at = self._urls(request)
        return [
            body(
                ReassignmentBody,
                at,
                topic_name=name,
                partition_id=index,
                adding_replicas=[each for each in one.target if each not in one.replicas],
                removing_replicas=[each for each in one.replicas if each not in one.target],
            )
            for name, index, one in self._broker.topics.replicas.reassignments(topics)
        ]

    @get("/{partition_id}", PartitionBody)
    async def get_partition(
        self, request: Request, topic_name: str, partition_id: int
    ) -> JsonResponse:
        topic = self._topic_with(topic_name, partition_id)
        try:
            partition = await self._partition(topic_name, partition_id)
        except NotLeaderOrFollower:  # which broker leads it is in the response
            partition = None
        return JsonResponse(self._body(topic, partition_id, partition, self._urls(request)))

    @get("/{partition_id}/reassignment", ReassignmentBody)
    async def get_reassignment(
        self, request: Request, topic_name: str, partition_id: int
    ) -> JsonResponse:
        self._topic_with(topic_name, partition_id)
        for found in self._reassignments(request, [(topic_name, [partition_id])]):
            return JsonResponse(found)
        name = f"{topic_name}-{partition_id}"
        raise RestError(404, f"{name} is not being reassigned", 40403)

    @get("/{partition_id}/offset", OffsetsBody)
    async def get_offsets(
        self, request: Request, topic_name: str, partition_id: int
    ) -> JsonResponse:
        """The log start offset and the high watermark."""
        partition = await self._partition(topic_name, partition_id)
        names: dict[str, Any] = {"topic_name": topic_name, "partition_id": partition_id}
        return JsonResponse(body(OffsetsBody, self._urls(request), partition, **names))

    @get("/{partition_id}/replicas", ListOf[ReplicaBody])
    async def list_replicas(self, request: Request, topic_name: str, partition_id: int) -> Response:
        topic = self._topic_with(topic_name, partition_id)
        replicas = self._replicas(topic, partition_id, self._urls(request))
        return await self._list(request, "KafkaReplicaList", replicas)

    @get("/{partition_id}/replicas/{broker_id}", ReplicaBody)
    async def get_replica(
        self, request: Request, topic_name: str, partition_id: int, broker_id: int
    ) -> JsonResponse:
        topic = self._topic_with(topic_name, partition_id)
        self._check_broker(broker_id)
        for replica in self._replicas(topic, partition_id, self._urls(request)):
            if replica["broker_id"] == broker_id:
                return JsonResponse(replica)
        name = f"{topic_name}-{partition_id}"
        raise RestError(404, f"broker {broker_id} has no replica of {name}", 40411)
