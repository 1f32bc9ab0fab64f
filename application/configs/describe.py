"""DescribeConfigs and ListConfigResources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from application.configs.brokers import BrokerConfigs
from application.groups.configs import GroupConfigs
from application.ports.placement import Placement
from application.state.catalog import Catalog
from domain.configs.broker import BrokerConfig
from domain.configs.entry import ConfigEntry, all_brokers_entries, broker_entry
from domain.configs.group import describe_group_configs
from domain.configs.resource import Resource, ResourceKind
from domain.configs.topic import describe_topic_config, describe_topic_configs
from domain.errors import InvalidRequest, UnknownTopicOrPartition
from domain.topics.topic import check_topic_name

#: An integer as Java parses it.
_INTEGER = re.compile(r"[+-]?\d{1,10}", re.ASCII)


class DescribeConfigsService:
    def __init__(
        self,
        catalog: Catalog,
        config: BrokerConfig,
        placement: Placement,
        broker_configs: BrokerConfigs,
        group_configs: GroupConfigs,
    ) -> None:
        self._catalog = catalog
        self._config = config
        self._placement = placement
        self._broker_configs = broker_configs
        self._group_configs = group_configs
        # One request may name thousands of resources, most of which have only defaults.
        self._topic_defaults = lru_cache(1)(lambda _revision: describe_topic_configs({}, config))
        self._group_defaults = lru_cache(1)(lambda _revision: describe_group_configs({}, config))

    def describe(self, resource: Resource) -> Sequence[ConfigEntry]:
        """Entries with defaults are shared by all topics, and by all groups."""
        if resource.kind is ResourceKind.TOPIC:
            return self._topic(resource.name)
        if resource.kind is ResourceKind.BROKER:
            return self._broker(resource.name)
        if resource.kind is ResourceKind.GROUP:
            return self._group(resource.name)
        if resource.kind is ResourceKind.BROKER_LOGGER:
            return self._loggers(resource.name)
        raise InvalidRequest(NO_CLIENT_METRICS)

    def resources(self, kinds: Iterable[ResourceKind]) -> list[Resource]:
        """Resources that can have configs; groups only if they have some."""
        node_ids = [str(node.node_id) for node in self._placement.nodes()]
        named = {
            ResourceKind.GROUP: self._group_configs.names(),
            ResourceKind.BROKER_LOGGER: node_ids,
            ResourceKind.BROKER: node_ids,
            ResourceKind.TOPIC: self._catalog.names(),
        }
        requested = set(kinds)
        return [
            Resource(kind, name)
            for kind, names in named.items()
            if kind in requested
            for name in names
        ]

    def _topic(self, name: str) -> Sequence[ConfigEntry]:
        check_topic_name(name)
        topic = self._catalog.topic(name)
        if topic is None:
            raise UnknownTopicOrPartition
        defaults = self._topic_defaults(self._config.revision)
        if not topic.configs:
            return defaults
        return [
            describe_topic_config(entry.name, topic.configs, self._config)
            if entry.name in topic.configs
            else entry
            for entry in defaults
        ]

    def _broker(self, name: str) -> list[ConfigEntry]:
        if not name:
            return all_brokers_entries(self._config)
        this = self._config.node_id
        if broker_id(name, "Broker") != this:
            raise InvalidRequest(
                f"Unexpected broker id, expected {this} or empty string, but received {name}"
            )
        return [broker_entry(row, self._config) for row in BrokerConfig.definitions.values()]

    def _group(self, name: str) -> Sequence[ConfigEntry]:
        if not name:
            raise InvalidRequest("Group name must not be empty")
        overrides = self._group_configs.overrides(name)
        if not overrides:
            return self._group_defaults(self._config.revision)
        return describe_group_configs(overrides, self._config)

    def _loggers(self, name: str) -> list[ConfigEntry]:
        """The broker has no loggers whose level can be changed."""
        if not name:
            raise InvalidRequest("Broker id must not be empty")
        this = self._config.node_id
        if broker_id(name, "Broker") != this:
            raise InvalidRequest(f"Unexpected broker id, expected {this} but received {name}")
        return []


NO_CLIENT_METRICS = "Metrics of clients are not collected"


def broker_id(name: str, noun: str) -> int:
    if not _INTEGER.fullmatch(name):
        raise InvalidRequest(f"{noun} id must be an integer, but it is: {name}")
    return int(name)
