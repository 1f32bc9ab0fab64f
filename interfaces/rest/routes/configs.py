"""Configs of topics, of this broker and of all brokers: one set of routes for the three."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from application.configs.alter import WantedConfigs
from domain.configs.alteration import Alteration, Operation
from domain.configs.broker import BrokerConfig
from domain.configs.effects import altered_without_effect
from domain.configs.entry import ConfigEntry, broker_entry
from domain.configs.resource import ALL_BROKERS, Resource, ResourceKind
from domain.configs.settings.definition import Definition, Source
from domain.configs.topic import describe_topic_configs
from interfaces.rest.admin import Admin
from interfaces.rest.answers import JsonAnswer, listing
from interfaces.rest.errors import RestError
from interfaces.rest.pending import value_of
from interfaces.rest.routes.topics import existing_topic
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
from interfaces.rest.urls import Urls

Whose = tuple[Owner, Resource]
#: A dependency; it raises where there is no such thing.
Find = Callable[..., Awaitable[Whose]]


def topic_configs(admin: Admin) -> APIRouter:
    async def find(topic_name: str) -> Whose:
        existing_topic(admin, topic_name)
        return of_topic(topic_name), Resource(ResourceKind.TOPIC, topic_name)

    return _router(admin, "/topics/{topic_name}/configs", "topic", find)


def broker_configs(admin: Admin) -> APIRouter:
    async def find(broker_id: int) -> Whose:
        if broker_id != admin.broker.config.node_id:
            raise RestError(404, f"there is no broker {broker_id}", 40411)
        return of_broker(broker_id), Resource(ResourceKind.BROKER, str(broker_id))

    return _router(admin, "/brokers/{broker_id}/configs", "broker", find)


def cluster_configs(admin: Admin) -> APIRouter:
    """What is set for all brokers while they run."""

    async def find() -> Whose:
        return OF_CLUSTER, ALL_BROKERS

    return _router(admin, "/broker-configs", "cluster", find)


def _router(admin: Admin, path: str, noun: str, find: Find) -> APIRouter:
    routes = APIRouter(tags=["configs"])
    broker = admin.broker
    found = Depends(find)

    def urls(request: Request) -> Urls:
        return Urls(request, broker.cluster_id)

    async def alter(
        resource: Resource, alterations: Sequence[Alteration], validate_only: bool = False
    ) -> Response:
        wanted = WantedConfigs(resource, alterations)
        [refused] = await value_of(broker.alter_configs.alter([wanted], validate_only))
        if refused is not None:
            raise refused
        return Response(status_code=204, headers=_warnings(resource, alterations))

    @routes.get(path, name=f"list_{noun}_configs", response_model=ConfigList)
    async def list_configs(request: Request, whose: Whose = found) -> Response:
        owner, resource = whose
        at = urls(request)
        entries = broker.describe_configs.describe(resource)
        bodies = (config_body(owner, entry, at) for entry in entries)
        return await listing(f"{owner.kind}List", at(*owner.path), bodies)

    # Before the routes with a name: it is none.
    @routes.post(f"{path}:alter", name=f"alter_{noun}_configs", status_code=204)
    async def alter_configs(wanted: AlterConfigs, whose: Whose = found) -> Response:
        """All of them or none."""
        alterations = [one.alteration() for one in wanted.data]
        return await alter(whose[1], alterations, wanted.validate_only)

    @routes.get(path + "/{name}", name=f"get_{noun}_config", response_model=ConfigBody)
    async def get_config(request: Request, name: str, whose: Whose = found) -> JsonAnswer:
        owner, resource = whose
        entry = _entry(broker.describe_configs.describe(resource), name)
        return JsonAnswer(config_body(owner, entry, urls(request)))

    @routes.put(path + "/{name}", name=f"set_{noun}_config", status_code=204)
    async def set_config(name: str, wanted: SetConfig, whose: Whose = found) -> Response:
        """It counts, and is durable, when it is answered."""
        operation = Operation.DELETE if wanted.value is None else Operation.SET
        return await alter(whose[1], [Alteration(name, operation, wanted.value or "")])

    @routes.delete(path + "/{name}", name=f"reset_{noun}_config", status_code=204)
    async def reset_config(name: str, whose: Whose = found) -> Response:
        """Back to the default."""
        if whose[1].kind is ResourceKind.TOPIC:
            _entry(broker.describe_configs.describe(whose[1]), name)
        elif name not in BrokerConfig.definitions:
            raise _unknown(name)
        return await alter(whose[1], [Alteration(name, Operation.DELETE, "")])

    return routes


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


def tables(admin: Admin) -> APIRouter:
    """Every setting, and every config of a topic, with what it means: for people and for forms."""
    routes = APIRouter(tags=["configs"])
    config = admin.broker.config

    @routes.get("/configs", response_model=SettingList)
    async def list_settings(request: Request) -> Response:
        """Where a value comes from is in `source`, and in `origin` where exactly it was found."""
        bodies = (_setting(admin, row) for row in BrokerConfig.definitions.values())
        return await listing("SettingList", str(request.url), bodies)

    @routes.get("/configs/topics", response_model=SettingList)
    async def list_topic_config_table(request: Request) -> Response:
        """The default is what a topic gets that sets nothing."""
        bodies = (
            setting_body(entry.definition, False, entry.text)
            for entry in describe_topic_configs({}, config)
        )
        return await listing("TopicConfigTable", str(request.url), bodies)

    return routes


def _setting(admin: Admin, definition: Definition) -> SettingBody:
    entry = broker_entry(definition, admin.broker.config)
    default = definition.format(definition.default)
    body = setting_body(definition, entry.read_only, default)
    body["value"] = entry.text
    body["source"] = SOURCES[entry.source]
    static = entry.source in (Source.STATIC_BROKER, Source.DEFAULT)
    body["origin"] = admin.origin(definition.name) if static else entry.source.value
    return body
