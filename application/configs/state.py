"""ConfigState: configs of brokers and groups, with changes in flight, and how they are persisted.

Configs of topics are persisted with the topic (TopicState).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from application.configs.brokers import BrokerConfigs
from application.groups.configs import GroupConfigs
from application.ports.config_repository import ConfigRepository
from application.state.commits import Commits
from application.state.runtime import Aggregates, Done, Runtime
from application.state.unused_configs import Configs
from domain.configs.resource import ALL_BROKERS, Resource, ResourceKind


class ResourceConfigs(NamedTuple):
    #: Configs with an effect.
    configs: Configs
    #: Set by another version of Ottla, and unknown to this one: they stay in the store.
    unused: Configs

    @property
    def all(self) -> Configs:
        return {**self.unused, **self.configs}


class ConfigState(Aggregates[Resource, ResourceConfigs]):
    def __init__(
        self,
        repository: ConfigRepository,
        brokers: BrokerConfigs,
        groups: GroupConfigs,
        commits: Commits,
    ) -> None:
        self._repository = repository
        self._brokers = brokers
        self._groups = groups
        self._commits = commits
        self.this_broker = brokers.this_broker
        self.runtime: Runtime[Resource, ResourceConfigs] = Runtime(self)

    def find(self, resource: Resource) -> ResourceConfigs:
        newest = self.runtime.newest(resource)
        if newest is not None:
            return newest
        if resource.kind is ResourceKind.GROUP:
            name = resource.name
            return ResourceConfigs(self._groups.overrides(name), self._groups.unused(name))
        return ResourceConfigs(self._brokers.of(resource), self._brokers.unused(resource))

    def altered(self) -> list[Resource]:
        """The resources that have configs."""
        groups = [Resource(ResourceKind.GROUP, name) for name in self._groups.names()]
        resources = (ALL_BROKERS, self.this_broker, *groups)
        return [resource for resource in resources if self.find(resource).all]

    def save(self, resource: Resource, configs: ResourceConfigs, then: Done) -> None:
        self.runtime.persist(resource, (configs,), then)

    # ---- Aggregates

    def stage(self, resource: Resource, changes: Sequence[ResourceConfigs], done: Done) -> None:
        for configs in changes:
            self._repository.save(resource, configs.all)
        self._commits.when_committed(done)

    def committed(self, resource: Resource, changes: Sequence[ResourceConfigs]) -> None:
        for configs, unused in changes:
            if resource.kind is ResourceKind.GROUP:
                self._groups.put(resource.name, configs, unused)
            else:
                self._brokers.put(resource, configs, unused)
