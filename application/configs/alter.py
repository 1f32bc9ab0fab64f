"""AlterConfigs and IncrementalAlterConfigs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from application.configs.describe import NO_CLIENT_METRICS, broker_id
from application.configs.state import ConfigState, ResourceConfigs
from application.ports.event_log import EventLog
from application.ports.pending import Pending
from application.ports.request_log import NO_CLIENT, Requester
from application.state.runtime import AggregateKey, Done, if_durable, respond
from application.state.unused_configs import Configs, still_unused
from application.topics.effects import warn_without_effect
from application.topics.state import TopicState
from domain.configs.alteration import Alteration, Operation, altered, altered_broker_configs
from domain.configs.broker import BrokerConfig
from domain.configs.effects import altered_without_effect
from domain.configs.group import GROUP_CONFIGS, validate_group_configs
from domain.configs.resource import ALL_BROKERS, Resource, ResourceKind
from domain.configs.topic import validate_topic_configs
from domain.configs.topic_table import TOPIC_CONFIGS
from domain.errors import (
    BrokerError,
    InvalidConfig,
    InvalidRequest,
    UnknownTopicOrPartition,
)
from domain.topics.topic import check_topic_name


class RequestedConfigs(NamedTuple):
    """The alterations of one resource; `replaces`: all other configs are reset (AlterConfigs)."""

    resource: Resource
    alterations: Sequence[Alteration]
    replaces: bool = False

    def base(self, configs: Mapping[str, str]) -> Mapping[str, str]:
        return {} if self.replaces else configs


#: None: success.
Altered = BrokerError | None


class AlterConfigsService:
    def __init__(
        self, topics: TopicState, configs: ConfigState, config: BrokerConfig, events: EventLog
    ) -> None:
        self._topics = topics
        self._configs = configs
        self._config = config
        self._events = events

    def alter(
        self, requested: Sequence[RequestedConfigs], validate_only: bool, by: Requester = NO_CLIENT
    ) -> list[Altered] | Pending[list[Altered]]:
        """One result per resource, in order, once all changes are durable.

        May raise NotInMemory (`ClusterChanges.check`).
        """
        if requested and not validate_only:
            self._topics.changes.check()
        results: list[Altered] = []
        for one in requested:
            try:
                self._alter(one, validate_only, by)
            except BrokerError as refused:
                results.append(refused.as_value())
            else:
                found = altered_without_effect(one.resource.kind, one.alterations)
                warn_without_effect(self._events, one.resource, found)
                results.append(None)
        return respond([self._key(one.resource) for one in requested], results)

    def _key(self, resource: Resource) -> AggregateKey:
        if resource.kind is ResourceKind.TOPIC:
            return self._topics.runtime, resource.name
        if resource.kind is ResourceKind.BROKER and resource.name:
            resource = self._configs.this_broker
        return self._configs.runtime, resource

    def _alter(self, requested: RequestedConfigs, validate_only: bool, by: Requester) -> None:
        kind = requested.resource.kind
        if kind is ResourceKind.TOPIC:
            self._topic(requested, validate_only, by)
        elif kind is ResourceKind.BROKER:
            self._broker(requested, validate_only, by)
        elif kind is ResourceKind.GROUP:
            self._group(requested, validate_only, by)
        elif kind is ResourceKind.BROKER_LOGGER:
            self._check_logger(requested)
        else:
            raise InvalidRequest(NO_CLIENT_METRICS)

    def _topic(self, requested: RequestedConfigs, validate_only: bool, by: Requester) -> None:
        name = requested.resource.name
        if not name:
            raise InvalidRequest("Default topic resources are not allowed.")
        topic = self._topics.find(name)
        current = {} if topic is None else topic.configs
        configs = altered(requested.base(current), requested.alterations, TOPIC_CONFIGS)
        check_topic_name(name)
        validate_topic_configs(configs, self._config)
        if topic is None:
            raise UnknownTopicOrPartition(f"The topic '{name}' does not exist.")
        if configs != current and not validate_only:
            log = self._log_change(requested.resource, current, configs, by)
            self._topics.save(topic.configured(configs), log)

    def _broker(self, requested: RequestedConfigs, validate_only: bool, by: Requester) -> None:
        resource = self._broker_resource(requested.resource.name)
        before = self._configs.find(resource)
        configs = altered_broker_configs(
            requested.base(before.configs),
            requested.alterations,
            self._config,
            for_all=resource == ALL_BROKERS,
        )
        self._save(resource, before, configs, requested, validate_only, by)

    def _broker_resource(self, name: str) -> Resource:
        if not name:
            return ALL_BROKERS
        this = self._config.node_id
        if broker_id(name, "Node") != this:
            raise InvalidRequest(f"Unexpected broker id, expected {this}, but received {name}")
        return self._configs.this_broker

    def _group(self, requested: RequestedConfigs, validate_only: bool, by: Requester) -> None:
        resource = requested.resource
        if not resource.name:
            raise InvalidRequest("Default group resources are not allowed.")
        before = self._configs.find(resource)
        configs = altered(requested.base(before.configs), requested.alterations, GROUP_CONFIGS)
        validate_group_configs(configs, self._config)
        self._save(resource, before, configs, requested, validate_only, by)

    def _save(
        self,
        resource: Resource,
        before: ResourceConfigs,
        configs: Configs,
        requested: RequestedConfigs,
        validate_only: bool,
        by: Requester,
    ) -> None:
        unused = still_unused(before.unused, requested.alterations, requested.replaces)
        after = ResourceConfigs(configs, unused)
        if after != before and not validate_only:
            log = self._log_change(resource, before.all, after.all, by)
            self._configs.save(resource, after, log)

    def _log_change(
        self,
        resource: Resource,
        before: Mapping[str, str],
        after: Mapping[str, str],
        by: Requester,
    ) -> Done:
        """Logs names only: a value may be a secret."""
        names = sorted({name for name, _ in before.items() ^ after.items()})

        def log() -> None:
            self._events.info(
                "configs_altered",
                resource=resource.kind.value,
                name=resource.name,
                configs=names,
                **by.fields(),
            )

        return if_durable(log)

    def _check_logger(self, requested: RequestedConfigs) -> None:
        """The broker has no loggers whose level can be changed."""
        name = requested.resource.name
        this = self._config.node_id
        if broker_id(name, "Node") != this:
            raise InvalidRequest(f"Unexpected node id. Expected {this}, but received {name}")
        for logger, operation, _ in requested.alterations:
            if operation in (Operation.APPEND, Operation.SUBTRACT):
                raise InvalidRequest(
                    f"{operation.name} operation is not allowed for the BROKER_LOGGER resource"
                )
            raise InvalidConfig(f"Logger {logger} does not exist!")
