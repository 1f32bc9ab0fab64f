"""GroupConfigs: the configs set for each group, and the resolved ones."""

from __future__ import annotations

from collections.abc import Mapping

from application.ports.config_repository import ConfigRepository
from application.ports.event_log import EventLog
from application.state.unused_configs import NOTHING, Configs, split_unusable
from domain.configs.broker import BrokerConfig
from domain.configs.group import GroupConfig, check_group_configs, resolve_group_config
from domain.configs.resource import Resource, ResourceKind


class GroupConfigs:
    """Durable configs only. A group need not exist to have configs."""

    def __init__(
        self, repository: ConfigRepository, broker: BrokerConfig, events: EventLog
    ) -> None:
        self._broker = broker
        self._events = events
        self._default = resolve_group_config(NOTHING, broker)
        self._overrides: dict[str, Configs] = {}
        self._unused: dict[str, Configs] = {}
        self._resolved: dict[str, GroupConfig] = {}
        self._take(repository.load())
        repository.follow(self._take)

    def _take(self, stored: Mapping[Resource, Configs]) -> None:
        """At the start, and when another broker has altered them."""
        for resource, configs in stored.items():
            if resource.kind is ResourceKind.GROUP:
                usable = split_unusable(configs, check_group_configs, self._events, resource)
                self.put(resource.name, *usable)

    def of(self, group_id: str) -> GroupConfig:
        return self._resolved.get(group_id, self._default)

    def overrides(self, group_id: str) -> Configs:
        return self._overrides.get(group_id, NOTHING)

    def unused(self, group_id: str) -> Configs:
        """Persisted, but without effect."""
        return self._unused.get(group_id, NOTHING)

    def names(self) -> list[str]:
        """Groups that have configs."""
        return sorted(self._overrides)

    def put(self, group_id: str, overrides: Configs, unused: Configs = NOTHING) -> None:
        if unused:
            self._unused[group_id] = unused
        else:
            self._unused.pop(group_id, None)
        if overrides:
            self._overrides[group_id] = overrides
            self._resolved[group_id] = resolve_group_config(overrides, self._broker)
        else:
            self._overrides.pop(group_id, None)
            self._resolved.pop(group_id, None)
