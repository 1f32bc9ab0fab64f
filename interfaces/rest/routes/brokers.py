"""The cluster and its brokers."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from domain.cluster.nodes import BrokerRegistration, Node
from domain.configs.listeners import EVERY_ADDRESS
from domain.security.access import ResourceType
from domain.topics.topic import Topic
from interfaces.rest.errors import RestError
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import Routes, ShortRoutes, get
from interfaces.rest.shapes.brokers import BrokerBody, ClusterBody, state_of
from interfaces.rest.shapes.common import ListOf, body
from interfaces.rest.shapes.partitions import ReplicaBody
from interfaces.rest.urls import V3

_UNKNOWN = None, None


class ClusterRoutes(ShortRoutes):
    """Confluent's paths only. There is one cluster, so it needs no short path."""

    tag = "brokers"

    @property
    def _controller_id(self) -> int:
        return self._broker.placement.controller_id

    def _body(self, request: Request) -> dict[str, Any]:
        return body(ClusterBody, self._urls(request), node_id=self._controller_id)

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

    def _body(self, request: Request, one: BrokerRegistration) -> dict[str, Any]:
        node = one.node
        is_this = node.node_id == self._node_id
        host, port = self._own_address(request) if is_this else self._address(node)
        return body(
            BrokerBody,
            self._urls(request),
            broker_id=node.node_id,
            host=host,
            port=port,
            rack=node.rack,
            is_controller=node.node_id == self._broker.cluster.controller_id,
            is_fenced=one.is_fenced,
            **state_of(one, self._broker.cluster.lease_left_s(node.node_id)),
            software_version=self._admin.version if is_this else one.software or None,
        )

    def _own_address(self, request: Request) -> tuple[str | None, int | None]:
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

    def _address(self, node: Node) -> tuple[str | None, int | None]:
        """Of the listener with the same name, as for Kafka clients."""
        names = [one.name for one in self._admin.listeners()][:1]
        return next((node.addresses[name] for name in names if name in node.addresses), _UNKNOWN)

    @get("", ListOf[BrokerBody])
    async def list_brokers(self, request: Request) -> Response:
        brokers = self._broker.cluster.brokers()
        bodies = (self._body(request, one) for one in brokers)
        return await self._list(request, "KafkaBrokerList", bodies)

    @get("/{broker_id}", BrokerBody)
    async def get_broker(self, request: Request, broker_id: int) -> JsonResponse:
        self._check_broker(broker_id)
        brokers = {one.node.node_id: one for one in self._broker.cluster.brokers()}
        return JsonResponse(self._body(request, brokers[broker_id]))

    @get("/{broker_id}/partition-replicas", ListOf[ReplicaBody])
    async def list_partition_replicas(self, request: Request, broker_id: int) -> Response:
        self._check_broker(broker_id)
        at = self._urls(request)
        described = self._describable(
            request, ResourceType.TOPIC, self._broker.catalog, _topic_name
        )
        replicas = (
            replica
            for topic in sorted(described, key=_topic_name)
            for index in range(len(topic.partition_ids))
            for replica in self._replicas(topic, index, at)
            if replica["broker_id"] == broker_id
        )
        return await self._list(request, "KafkaReplicaList", replicas)


def _topic_name(topic: Topic) -> str:
    return topic.name
