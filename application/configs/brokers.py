"""BrokerConfigs: dynamic configs of this broker, and of all brokers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from application.ports.config_repository import ConfigRepository
from application.ports.event_log import EventLog
from application.state.catalog import Catalog
from application.state.unused_configs import NOTHING, Configs, split_unusable
from domain.configs.alteration import validate_broker_configs
from domain.configs.broker import BrokerConfig
from domain.configs.resource import ALL_BROKERS, Resource, ResourceKind
from domain.errors import BrokerError


class BrokerConfigs:
    """Durable configs only; applies them to the broker and its topics."""

    def __init__(
        self,
        repository: ConfigRepository,
        config: BrokerConfig,
        catalog: Catalog,
        events: EventLog,
    ) -> None:
        self._config = config
        self._catalog = catalog
        self._events = events
        self._when_changed: list[Callable[[], None]] = []
        self.this_broker = Resource(ResourceKind.BROKER, str(config.node_id))
        persisted = repository.load()
        self._set: dict[Resource, Configs] = {}
        self._unused: dict[Resource, Configs] = {}
        for resource in (ALL_BROKERS, self.this_broker):
            self._take(resource, persisted.get(resource, NOTHING))
        self._configure()
        repository.follow(self._followed)

    def _take(self, resource: Resource, stored: Configs) -> None:
        self._set[resource], self._unused[resource] = split_unusable(
            stored, partial(self._check, resource), self._events, resource
        )

    def _followed(self, changed: Mapping[Resource, Configs]) -> None:
        """Another broker has altered them."""
        altered = changed.keys() & self._set.keys()
        for resource in altered:
            self._take(resource, changed[resource])
        if altered:
            self._configure()

    def of(self, resource: Resource) -> Configs:
        return self._set[resource]

    def unused(self, resource: Resource) -> Configs:
        """Persisted, but without effect."""
        return self._unused[resource]

    def on_changed(self, call: Callable[[], None]) -> None:
        self._when_changed.append(call)

    def put(self, resource: Resource, configs: Configs, unused: Configs = NOTHING) -> None:
        self._set[resource] = configs
        self._unused[resource] = unused
        self._configure()

    def _configure(self) -> None:
        self._config.configure(self._set[self.this_broker], self._set[ALL_BROKERS])
        self._catalog.reconfigured()
        for call in self._when_changed:
            call()

    def _check(self, resource: Resource, configs: Configs) -> None:
        for name in configs:
            if name not in BrokerConfig.definitions:
                raise BrokerError(f"Unknown broker config name: {name}")
        validate_broker_configs(configs, self._config, for_all=resource == ALL_BROKERS)
