"""The cluster, which is this broker."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from domain.configs.listeners import EVERY_ADDRESS
from domain.security.access import ResourceType
from domain.topics.topic import Topic
from interfaces.rest.errors import RestError
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import Routes, ShortRoutes, get
from interfaces.rest.shapes.brokers import BrokerBody, ClusterBody
from interfaces.rest.shapes.common import ListOf, body
from interfaces.rest.shapes.partitions import ReplicaBody
from interfaces.rest.urls import V3


class ClusterRoutes(ShortRoutes):
    """Confluent's paths only. There is one cluster, so it needs no short path."""

    tag = "brokers"

    def _body(self, request: Request) -> dict[str, Any]:
        return body(ClusterBody, self._urls(request), node_id=self._node_id)

    @get("/v3/clusters", ListOf[ClusterBody])
    async def list_clusters(self, request: Request) -> Response:
        return await self._list(request, "KafkaClusterList", [self._body(request)])

    @get(V3, ClusterBody)
    async def get_cluster(self, request: Request, cluster_id: str) -> JsonResponse:
        await self.known_cluster(cluster_id)
        return JsonResponse(self._body(request))

    async def known_cluster(self, cluster_id: str) -> None:
        """A dependency of all paths below a cluster: raises if the id is another one's."""
        if cluster_id != self._broker.cluster_id:
            raise RestError(404, f"there is no cluster {cluster_id!r}", 40410)


class BrokerRoutes(Routes):
    tag = "brokers"
    prefix = "/brokers"

    def _body(self, request: Request) -> dict[str, Any]:
        host, port = self._address(request)
        return body(
            BrokerBody,
            self._urls(request),
            broker_id=self._node_id,
            host=host,
            port=port,
            rack=self._broker.config.broker_rack,
        )

    def _address(self, request: Request) -> tuple[str | None, int | None]:
        """Where the first listener directs clients to."""
        listener = next(iter(self._admin.listeners()), None)
        if listener is None:
            return None, None
        advertised = self._broker.config.advertised(listener.name, listener.port)
        if advertised is not None:
            return advertised
        if listener.host in EVERY_ADDRESS:  # to the address that they connected to
            return request.scope["server"][0], listener.port
        return listener.host, listener.port

    @get("", ListOf[BrokerBody])
    async def list_brokers(self, request: Request) -> Response:
        return await self._list(request, "KafkaBrokerList", [self._body(request)])

    @get("/{broker_id}", BrokerBody)
    async def get_broker(self, request: Request, broker_id: int) -> JsonResponse:
        self._check_broker(broker_id)
        return JsonResponse(self._body(request))

    @get("/{broker_id}/partition-replicas", ListOf[ReplicaBody])
    async def list_partition_replicas(self, request: Request, broker_id: int) -> Response:
        self._check_broker(broker_id)
        at = self._urls(request)
        described = self._describable(
            request, ResourceType.TOPIC, self._broker.catalog, _topic_name
        )
        replicas = (
            self._replica(topic.name, index, at)
            for topic in sorted(described, key=_topic_name)
            for index in range(len(topic.partition_ids))
        )
        return await self._list(request, "KafkaReplicaList", replicas)


def _topic_name(topic: Topic) -> str:
    return topic.name
