"""The cluster, which is this broker."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from interfaces.rest.admin import Admin
from interfaces.rest.answers import JsonAnswer, listing
from interfaces.rest.errors import RestError
from interfaces.rest.routes.partitions import replicas
from interfaces.rest.shapes.brokers import (
    BrokerBody,
    BrokerList,
    ClusterBody,
    ClusterList,
    broker_body,
    cluster_body,
)
from interfaces.rest.shapes.partitions import ReplicaList
from interfaces.rest.urls import V3, Urls


def clusters(admin: Admin) -> APIRouter:
    """Confluent's paths only: there is one, and so no short way to it is needed."""
    routes = APIRouter(tags=["brokers"])
    node_id = admin.broker.config.node_id

    @routes.get("/v3/clusters", response_model=ClusterList)
    async def list_clusters(request: Request) -> Response:
        at = Urls(request, admin.broker.cluster_id)
        return await listing(admin, "KafkaClusterList", at.clusters, [cluster_body(node_id, at)])

    @routes.get(V3, response_model=ClusterBody)
    async def get_cluster(request: Request, cluster_id: str) -> JsonAnswer:
        check_cluster(admin, cluster_id)
        return JsonAnswer(cluster_body(node_id, Urls(request, cluster_id)))

    return routes


def check_cluster(admin: Admin, cluster_id: str) -> None:
    if cluster_id != admin.broker.cluster_id:
        raise RestError(404, f"there is no cluster {cluster_id!r}", 40410)


def router(admin: Admin) -> APIRouter:
    routes = APIRouter(prefix="/brokers", tags=["brokers"])
    config = admin.broker.config

    def check_broker(broker_id: int) -> None:
        if broker_id != config.node_id:
            raise RestError(404, f"there is no broker {broker_id}", 40411)

    def body(request: Request) -> BrokerBody:
        address = next(((one.host, one.port) for one in admin.listeners()), None)
        at = Urls(request, admin.broker.cluster_id)
        return broker_body(config.node_id, address, config.broker_rack, at)

    @routes.get("", response_model=BrokerList)
    async def list_brokers(request: Request) -> Response:
        url = Urls(request, admin.broker.cluster_id)("brokers")
        return await listing(admin, "KafkaBrokerList", url, [body(request)])

    @routes.get("/{broker_id}", response_model=BrokerBody)
    async def get_broker(request: Request, broker_id: int) -> JsonAnswer:
        check_broker(broker_id)
        return JsonAnswer(body(request))

    @routes.get("/{broker_id}/partition-replicas", response_model=ReplicaList)
    async def list_partition_replicas(request: Request, broker_id: int) -> Response:
        check_broker(broker_id)
        at = Urls(request, admin.broker.cluster_id)
        url = at("brokers", broker_id, "partition-replicas")
        return await listing(admin, "KafkaReplicaList", url, replicas(admin, at))

    return routes
