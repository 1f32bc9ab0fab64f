"""The cluster, which is this broker."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from interfaces.rest.answers import JsonAnswer, listing
from interfaces.rest.errors import RestError
from interfaces.rest.routes.partitions import replicas
from interfaces.rest.routes.resource import Routes
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

    def router(self) -> APIRouter:
        routes = APIRouter(tags=["brokers"])
        routes.get("/v3/clusters", response_model=ListOf[ClusterBody])(self.list_clusters)
        routes.get(V3, response_model=ClusterBody)(self.get_cluster)
        return routes

    async def list_clusters(self, request: Request) -> Response:
        at = self._urls(request)
        return await listing(
            self._admin, "KafkaClusterList", at.clusters, [cluster_body(self._node_id, at)]
        )

    async def get_cluster(self, request: Request, cluster_id: str) -> JsonAnswer:
        await self.known_cluster(cluster_id)
        return JsonAnswer(cluster_body(self._node_id, Urls(request, cluster_id)))

    async def known_cluster(self, cluster_id: str) -> None:
        """A dependency of all paths below a cluster: raises if the id is another one's."""
        if cluster_id != self._broker.cluster_id:
            raise RestError(404, f"there is no cluster {cluster_id!r}", 40410)


class BrokerRoutes(Routes):
    def router(self) -> APIRouter:
        routes = APIRouter(prefix="/brokers", tags=["brokers"])
        routes.get("", response_model=ListOf[BrokerBody])(self.list_brokers)
        routes.get("/{broker_id}", response_model=BrokerBody)(self.get_broker)
        routes.get("/{broker_id}/partition-replicas", response_model=ListOf[ReplicaBody])(
            self.list_partition_replicas
        )
        return routes

    def _body(self, request: Request) -> BrokerBody:
        address = next(((one.host, one.port) for one in self._admin.listeners()), None)
        at = self._urls(request)
        return broker_body(self._node_id, address, self._broker.config.broker_rack, at)

    async def list_brokers(self, request: Request) -> Response:
        url = self._urls(request)("brokers")
        return await listing(self._admin, "KafkaBrokerList", url, [self._body(request)])

    async def get_broker(self, request: Request, broker_id: int) -> JsonAnswer:
        self._check_broker(broker_id)
        return JsonAnswer(self._body(request))

    async def list_partition_replicas(self, request: Request, broker_id: int) -> Response:
        self._check_broker(broker_id)
        at = self._urls(request)
        url = at("brokers", broker_id, "partition-replicas")
        return await listing(self._admin, "KafkaReplicaList", url, replicas(self._admin, at))
