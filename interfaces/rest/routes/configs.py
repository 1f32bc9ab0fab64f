"""Configs of topics, of this broker and of all brokers: one set of routes for all three."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, ClassVar

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from application.configs.alter import RequestedConfigs
from domain.configs.alteration import Alteration, Operation
from domain.configs.broker import BrokerConfig
from domain.configs.effects import altered_without_effect
from domain.configs.entry import ConfigEntry, broker_entry
from domain.configs.resource import ResourceKind
from domain.configs.settings.definition import Definition, Source
from domain.configs.topic import describe_topic_configs
from interfaces.rest.errors import RestError
from interfaces.rest.exchange import exchange_of
from interfaces.rest.pending import only
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import Routes, ShortRoutes, delete, get, post, route
from interfaces.rest.shapes.common import ListOf, fields
from interfaces.rest.shapes.configs import (
    OF_CLUSTER,
    SOURCES,
    AlterConfigs,
    ConfigBody,
    Owner,
    SetConfig,
    SettingBody,
    config_body,
    of_broker,
    of_topic,
)


class ConfigRoutes(Routes):
    tag = "configs"
    #: A word for the names of operations.
    noun: ClassVar[str]
    #: A dependency: sets the owner of the request's configs, or raises.
    find: Callable[..., Awaitable[None]]

    def router(self, *_: Any) -> APIRouter:
        return super().router(Depends(self.find))

    def _name(self, method: str) -> str:
        return method.replace("_config", f"_{self.noun}_config")

    @get("", ListOf[ConfigBody])
    async def list_configs(self, request: Request) -> Response:
        owner, at = _owner(request), self._urls(request)
        bodies = (config_body(owner, entry, at) for entry in self._entries(owner))
        return await self._list(request, f"{owner.head.kind}List", bodies)

    def _entries(self, owner: Owner) -> Iterable[ConfigEntry]:
        return self._broker.configs.describe_configs.describe(owner.resource)

    def _entry(self, owner: Owner, name: str) -> ConfigEntry:
        for entry in self._entries(owner):
            if entry.name == name:
                return entry
        raise _unknown(name)

    @post(":alter", status_code=204)
    async def alter_configs(self, request: Request, body: AlterConfigs) -> Response:
        """Alters all of them, or none where one is refused."""
        alterations = [one.alteration() for one in body.data]
        return await self._alter(request, alterations, body.validate_only)

    @get("/{name}", ConfigBody)
    async def get_config(self, request: Request, name: str) -> JsonResponse:
        owner = _owner(request)
        return JsonResponse(config_body(owner, self._entry(owner, name), self._urls(request)))

    @route("PUT", "/{name}", status_code=204)
    async def set_config(self, request: Request, name: str, body: SetConfig) -> Response:
        """The config is in effect, and durable, when the response comes."""
        operation = Operation.DELETE if body.value is None else Operation.SET
        return await self._alter(request, [Alteration(name, operation, body.value or "")])

    @delete("/{name}")
    async def reset_config(self, request: Request, name: str) -> Response:
        """Resets a config to its default."""
        owner = _owner(request)
        if owner.resource.kind is ResourceKind.TOPIC:
            self._entry(owner, name)
        elif name not in BrokerConfig.definitions:
            raise _unknown(name)
        return await self._alter(request, [Alteration(name, Operation.DELETE, "")])

    async def _alter(
        self, request: Request, alterations: Sequence[Alteration], validate_only: bool = False
    ) -> Response:
        resource = _owner(request).resource
        requested = RequestedConfigs(resource, alterations)
        alter, by = self._broker.configs.alter_configs.alter, exchange_of(request).requester
        await only(lambda: alter([requested], validate_only, by))
        # A header, as Kubernetes has it: Confluent's API responds with 204, which has no body.
        found = altered_without_effect(resource.kind, alterations)
        warning = ", ".join(f'299 - "{one.warning}"' for one in found)
        return Response(status_code=204, headers={"warning": warning} if warning else None)


class TopicConfigRoutes(ConfigRoutes):
    prefix, noun = "/topics/{topic_name}/configs", "topic"

    async def find(self, request: Request, topic_name: str) -> None:
        self._topic(topic_name)
        request.state.owner = of_topic(topic_name)


class BrokerConfigRoutes(ConfigRoutes):
    prefix, noun = "/brokers/{broker_id}/configs", "broker"

    async def find(self, request: Request, broker_id: int) -> None:
        self._check_broker(broker_id)
        if broker_id != self._node_id:
            raise RestError(421, f"broker {broker_id} has its configs: ask its REST", 42101)
        request.state.owner = of_broker(broker_id)


class ClusterConfigRoutes(ConfigRoutes):
    """Dynamic configs of all brokers."""

    prefix, noun = "/broker-configs", "cluster"

    async def find(self, request: Request) -> None:
        request.state.owner = OF_CLUSTER


def _owner(request: Request) -> Owner:
    owner: Owner = request.state.owner
    return owner


def _unknown(name: str) -> RestError:
    return RestError(404, f"there is no config {name!r}", 40407)


class SettingRoutes(ShortRoutes):
    """All settings of the broker and all configs of topics, with their documentation."""

    tag = "configs"

    @get("/configs", ListOf[SettingBody])
    async def list_settings(self, request: Request) -> Response:
        """`source` is Kafka's config source; `origin` is where exactly the value was found."""
        bodies = (self._setting(row) for row in BrokerConfig.definitions.values())
        return await self._list(request, "SettingList", bodies)

    @get("/configs/topics", ListOf[SettingBody])
    async def list_topic_config_table(self, request: Request) -> Response:
        """`default` is the value of a topic that does not set the config."""
        bodies = (
            fields(SettingBody, entry.definition, is_read_only=False, default=entry.text)
            for entry in describe_topic_configs({}, self._broker.config)
        )
        return await self._list(request, "TopicConfigTable", bodies)

    def _setting(self, definition: Definition) -> dict[str, Any]:
        entry = broker_entry(definition, self._broker.config)
        static = entry.source in (Source.STATIC_BROKER, Source.DEFAULT)
        return {
            **fields(
                SettingBody,
                definition,
                is_read_only=entry.read_only,
                default=definition.format(definition.default),
            ),
            "value": entry.text,
            "source": SOURCES[entry.source],
            "origin": self._admin.origin(definition.name) if static else entry.source.value,
        }
