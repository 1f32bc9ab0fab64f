"""The base class of all routes, and the decorators that give a route its path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from application.broker import Broker
from application.cluster.replicas import ReplicasOf
from application.partitions.reading import STUCK_MS, load_all
from domain.errors import UnknownTopicOrPartition
from domain.partitions.partition import Partition
from domain.security.access import ResourceType
from domain.topics.topic import Topic
from interfaces.rest.admin import Admin
from interfaces.rest.errors import RestError
from interfaces.rest.exchange import exchange_of
from interfaces.rest.pages import Page
from interfaces.rest.pending import value_of
from interfaces.rest.responses import listing
from interfaces.rest.shapes.common import body
from interfaces.rest.shapes.partitions import ReplicaBody
from interfaces.rest.shapes.topics import TopicBody
from interfaces.rest.urls import Urls

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


#: Options of a route that only its OpenAPI description needs: all responses are made by the routes.
SHAPES = {"response_model", "responses"}


class Decorator(Protocol):
    def __call__(self, function: F) -> F: ...


class Routes:
    """The routes of one resource: its methods with a decorator, in their order."""

    tag: ClassVar[str]
    prefix: ClassVar[str] = ""
    in_schema: ClassVar[bool] = True

    def __init__(self, admin: Admin, described: bool = False) -> None:
        self._admin = admin
        self._described = described

    @property
    def _broker(self) -> Broker:
        return self._admin.broker

    @property
    def _node_id(self) -> int:
        return self._broker.config.node_id

    def router(self, *dependencies: Any) -> APIRouter:
        router = APIRouter(
            prefix=self.prefix,
            tags=[self.tag],
            include_in_schema=self.in_schema,
            dependencies=dependencies,
        )
        for name in dict.fromkeys(name for each in type(self).__mro__ for name in vars(each)):
            for path, options in getattr(getattr(type(self), name), "paths", ()):
                method = getattr(self, name)
                if not self._described:
                    options = {key: options[key] for key in options.keys() - SHAPES}
                router.add_api_route(path, method, name=self._name(name), **options)
        return router

    def _name(self, method: str) -> str:
        """The name of the operation in OpenAPI."""
        return method

    def _urls(self, request: Request) -> Urls:
        return Urls(request, self._broker.cluster_id)

    def _url(self, request: Request) -> str:
        return self._urls(request).of(request)

    async def _list(
        self,
        request: Request,
        kind: str,
        bodies: Iterable[object],
        next_url: str | None = None,
        **more: object,
    ) -> Response:
        return await listing(self._admin, kind, self._url(request), bodies, next_url, **more)

    async def _page(
        self,
        request: Request,
        kind: str,
        page: Page,
        elements: Sequence[T],
        key: Callable[[T], str],
        body: Callable[[T, Urls], object],
    ) -> Response:
        """`elements` in the order of their keys."""
        shown, next_url = page.of(elements, key, self._url(request))
        at = self._urls(request)
        return await self._list(request, kind, (body(one, at) for one in shown), next_url)

    def _describable(
        self,
        request: Request,
        resource_type: ResourceType,
        elements: Iterable[T],
        name: Callable[[T], str],
    ) -> list[T]:
        """Those that the principal may describe."""
        exchange = exchange_of(request)
        return [one for one in elements if exchange.may_describe(resource_type, name(one))]

    def _topic(self, name: str) -> Topic:
        topic = self._broker.catalog.topic(name)
        if topic is None:
            raise UnknownTopicOrPartition(f"There is no topic {name}")
        return topic

    def _topic_body(
        self, topic: Topic, at: Urls, warnings: Sequence[str] = (), factor: int | None = None
    ) -> dict[str, Any]:
        """`factor`: of a topic that is not created."""
        if factor is None:
            factor = self._broker.topics.replicas.factor(topic)
        found = body(TopicBody, at, topic, replication_factor=factor)
        return found | ({"warnings": warnings} if warnings else {})

    def _topic_with(self, name: str, index: int) -> Topic:
        """Raises UnknownTopicOrPartition if it has no such partition, too."""
        topic = self._topic(name)
        if not 0 <= index < len(topic.partition_ids):
            raise UnknownTopicOrPartition(f"Topic {name} has no partition {index}.")
        return topic

    async def _load(self, places: Iterable[tuple[str, int]]) -> None:
        """Before partitions are used; those that the store does not deliver cannot be read."""
        job = load_all(self._broker.catalog, places)
        await value_of(self._broker.background.run_unless_stuck(job, STUCK_MS))

    async def _load_topic(self, topic: Topic) -> None:
        await self._load((topic.name, index) for index in range(len(topic.partition_ids)))

    async def _partition(self, topic_name: str, index: int) -> Partition:
        await self._load([(topic_name, index)])
        partition = self._broker.catalog.loaded_now(self._topic_with(topic_name, index), index)
        assert partition is not None
        return partition

    def _replicas(self, topic: Topic, index: int, at: Urls) -> list[dict[str, Any]]:
        found = ReplicasOf(self._broker.placement)(topic.partition_ids[index])
        names: dict[str, Any] = {"topic_name": topic.name, "partition_id": index}
        return [
            body(
                ReplicaBody,
                at,
                **names,
                broker_id=each,
                is_leader=each == found.leader_id,
                is_in_sync=each in found.in_sync,
            )
            for each in found.replicas
        ]

    def _check_broker(self, broker_id: int) -> None:
        if all(broker_id != one.node.node_id for one in self._broker.cluster.brokers()):
            raise RestError(404, f"there is no broker {broker_id}", 40411)


class ShortRoutes(Routes):
    """Without a path below /v3."""

    def _url(self, request: Request) -> str:
        return str(request.url)


def route(method: str, path: str, response_model: Any = None, **options: Any) -> Decorator:
    """Options are those of FastAPI's add_api_route."""
    if response_model is not None:
        options["response_model"] = response_model

    def mark(function: F) -> F:
        paths = vars(function).setdefault("paths", [])
        paths.append((path, {"methods": [method], **options}))
        return function

    return mark


def get(path: str, response_model: Any = None, **options: Any) -> Decorator:
    return route("GET", path, response_model, **options)


def post(path: str, response_model: Any = None, **options: Any) -> Decorator:
    return route("POST", path, response_model, **options)


def delete(path: str, **options: Any) -> Decorator:
    return route("DELETE", path, status_code=204, **options)
