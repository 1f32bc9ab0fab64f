"""The cluster, which is this broker."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from interfaces.rest.errors import RestError
from interfaces.rest.responses import JsonResponse, listing
from interfaces.rest.routes.partitions import replicas
from interfaces.rest.routes.resource import Routes, get
from interfaces.rest.shapes.brokers import (
    BrokerBody,
    ClusterBody,
    broker_body,
    cluster_body,
)
from interfaces.rest.shapes.common import ListOf
from interfaces.rest.shapes.partitions import ReplicaBody
from interfaces.rest.urls import V3, Urls


class ClusterRoutes(Routes):
    """Confluent's paths only. There is one cluster, so it needs no short path."""

    tag = "brokers"

    @get("/v3/clusters", ListOf[ClusterBody])
    async def list_clusters(self, request: Request) -> Response:
        at = self._urls(request)
        return await listing(
            self._admin, "KafkaClusterList", at.clusters, [cluster_body(self._node_id, at)]
        )

    @get(V3, ClusterBody)
    async def get_cluster(self, request: Request, cluster_id: str) -> JsonResponse:
        await self.known_cluster(cluster_id)
        return JsonResponse(cluster_body(self._node_id, Urls(request, cluster_id)))

    async def known_cluster(self, cluster_id: str) -> None:
        """A dependency of all paths below a cluster: raises if the id is another one's."""
        if cluster_id != self._broker.cluster_id:
            raise RestError(404, f"there is no cluster {cluster_id!r}", 40410)


class BrokerRoutes(Routes):
    tag = "brokers"
    prefix = "/brokers"

    def _body(self, request: Request) -> BrokerBody:
        address = next(((one.host, one.port) for one in self._admin.listeners()), None)
        at = self._urls(request)
        return broker_body(self._node_id, address, self._broker.config.broker_rack, at)

    @get("", ListOf[BrokerBody])
    async def list_brokers(self, request: Request) -> Response:
        url = self._urls(request)("brokers")
        return await listing(self._admin, "KafkaBrokerList", url, [self._body(request)])

    @get("/{broker_id}", BrokerBody)
    async def get_broker(self, request: Request, broker_id: int) -> JsonResponse:
        self._check_broker(broker_id)
        return JsonResponse(self._body(request))

    @get("/{broker_id}/partition-replicas", ListOf[ReplicaBody])
    async def list_partition_replicas(self, request: Request, broker_id: int) -> Response:
        self._check_broker(broker_id)
        at = self._urls(request)
        url = at("brokers", broker_id, "partition-replicas")
        return await listing(self._admin, "KafkaReplicaList", url, replicas(self._admin, at))
