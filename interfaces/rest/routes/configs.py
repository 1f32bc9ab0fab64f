"""Configs of topics, of this broker and of all brokers: one set of routes for the three."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import ClassVar

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from application.configs.alter import RequestedConfigs
from domain.configs.alteration import Alteration, Operation
from domain.configs.broker import BrokerConfig
from domain.configs.effects import altered_without_effect
from domain.configs.entry import ConfigEntry, broker_entry
from domain.configs.resource import ALL_BROKERS, Resource, ResourceKind
from domain.configs.settings.definition import Definition, Source
from domain.configs.topic import describe_topic_configs
from interfaces.rest.answers import JsonAnswer, listing
from interfaces.rest.errors import RestError
from interfaces.rest.exchange import exchange_of
from interfaces.rest.pending import value_of
from interfaces.rest.routes.resource import Routes
from interfaces.rest.shapes.configs import (
    OF_CLUSTER,
    SOURCES,
    AlterConfigs,
    ConfigBody,
    ConfigList,
    Owner,
    SetConfig,
    SettingBody,
    SettingList,
    config_body,
    of_broker,
    of_topic,
    setting_body,
)


class ConfigRoutes(Routes):
    """The same paths for configs of three kinds."""

    #: Where they are, and what one is called in the names of operations.
    path: ClassVar[str]
    noun: ClassVar[str]
    #: A dependency: sets the owner and the resource of a request, or raises.
    find: Callable[..., Awaitable[None]]

    def router(self) -> APIRouter:
        path, noun = self.path, self.noun
        one = path + "/{name}"
        routes = APIRouter(tags=["configs"], dependencies=[Depends(self.find)])
        routes.get(path, name=f"list_{noun}_configs", response_model=ConfigList)(self.list_configs)
        # Before the routes with a name: it is none.
        routes.post(f"{path}:alter", name=f"alter_{noun}_configs", status_code=204)(
            self.alter_configs
        )
        routes.get(one, name=f"get_{noun}_config", response_model=ConfigBody)(self.get_config)
        routes.put(one, name=f"set_{noun}_config", status_code=204)(self.set_config)
        routes.delete(one, name=f"reset_{noun}_config", status_code=204)(self.reset_config)
        return routes

    async def list_configs(self, request: Request) -> Response:
        owner, at = _owner(request), self._urls(request)
        entries = self._broker.configs.describe_configs.describe(_resource(request))
        bodies = (config_body(owner, entry, at) for entry in entries)
        return await listing(self._admin, f"{owner.kind}List", at(*owner.path), bodies)

    async def alter_configs(self, request: Request, wanted: AlterConfigs) -> Response:
        """All of them or none."""
        alterations = [one.alteration() for one in wanted.data]
        return await self._alter(request, alterations, wanted.validate_only)

    async def get_config(self, request: Request, name: str) -> JsonAnswer:
        entry = _entry(self._broker.configs.describe_configs.describe(_resource(request)), name)
        return JsonAnswer(config_body(_owner(request), entry, self._urls(request)))

    async def set_config(self, request: Request, name: str, wanted: SetConfig) -> Response:
        """It counts, and is durable, when it is answered."""
        operation = Operation.DELETE if wanted.value is None else Operation.SET
        return await self._alter(request, [Alteration(name, operation, wanted.value or "")])

    async def reset_config(self, request: Request, name: str) -> Response:
        """Back to the default."""
        resource = _resource(request)
        if resource.kind is ResourceKind.TOPIC:
            _entry(self._broker.configs.describe_configs.describe(resource), name)
        elif name not in BrokerConfig.definitions:
            raise _unknown(name)
        return await self._alter(request, [Alteration(name, Operation.DELETE, "")])

    async def _alter(
        self, request: Request, alterations: Sequence[Alteration], validate_only: bool = False
    ) -> Response:
        resource = _resource(request)
        wanted = RequestedConfigs(resource, alterations)
        alter, by = self._broker.configs.alter_configs.alter, exchange_of(request).requester
        [refused] = await value_of(alter([wanted], validate_only, by))
        if refused is not None:
            raise refused
        return Response(status_code=204, headers=_warnings(resource, alterations))


class TopicConfigRoutes(ConfigRoutes):
    path, noun = "/topics/{topic_name}/configs", "topic"

    async def find(self, request: Request, topic_name: str) -> None:
        self._topic(topic_name)
        _set(request, of_topic(topic_name), Resource(ResourceKind.TOPIC, topic_name))


class BrokerConfigRoutes(ConfigRoutes):
    path, noun = "/brokers/{broker_id}/configs", "broker"

    async def find(self, request: Request, broker_id: int) -> None:
        self._check_broker(broker_id)
        _set(request, of_broker(broker_id), Resource(ResourceKind.BROKER, str(broker_id)))


class ClusterConfigRoutes(ConfigRoutes):
    """What is set for all brokers while they run."""

    path, noun = "/broker-configs", "cluster"

    async def find(self, request: Request) -> None:
        _set(request, OF_CLUSTER, ALL_BROKERS)


def _set(request: Request, owner: Owner, resource: Resource) -> None:
    request.state.owner, request.state.resource = owner, resource


def _owner(request: Request) -> Owner:
    owner: Owner = request.state.owner
    return owner


def _resource(request: Request) -> Resource:
    resource: Resource = request.state.resource
    return resource


def _warnings(resource: Resource, alterations: Iterable[Alteration]) -> dict[str, str]:
    """As Kubernetes warns: a 204, which Confluent's API has here, has no body for it."""
    found = altered_without_effect(resource.kind, alterations)
    return {"warning": ", ".join(f'299 - "{one.warning}"' for one in found)} if found else {}


def _entry(entries: Iterable[ConfigEntry], name: str) -> ConfigEntry:
    for entry in entries:
        if entry.name == name:
            return entry
    raise _unknown(name)


def _unknown(name: str) -> RestError:
    return RestError(404, f"there is no config {name!r}", 40407)


class SettingRoutes(Routes):
    """Every setting, and every config of a topic, with what it means: for people and for forms."""

    def router(self) -> APIRouter:
        routes = APIRouter(tags=["configs"])
        routes.get("/configs", response_model=SettingList)(self.list_settings)
        routes.get("/configs/topics", response_model=SettingList)(self.list_topic_config_table)
        return routes

    async def list_settings(self, request: Request) -> Response:
        """Where a value comes from is in `source`, and in `origin` where exactly it was found."""
        bodies = (self._setting(row) for row in BrokerConfig.definitions.values())
        return await listing(self._admin, "SettingList", str(request.url), bodies)

    async def list_topic_config_table(self, request: Request) -> Response:
        """The default is what a topic gets that sets nothing."""
        bodies = (
            setting_body(entry.definition, False, entry.text)
            for entry in describe_topic_configs({}, self._broker.config)
        )
        return await listing(self._admin, "TopicConfigTable", str(request.url), bodies)

    def _setting(self, definition: Definition) -> SettingBody:
        entry = broker_entry(definition, self._broker.config)
        default = definition.format(definition.default)
        body = setting_body(definition, entry.read_only, default)
        body["value"] = entry.text
        body["source"] = SOURCES[entry.source]
        static = entry.source in (Source.STATIC_BROKER, Source.DEFAULT)
        body["origin"] = self._admin.origin(definition.name) if static else entry.source.value
        return body
