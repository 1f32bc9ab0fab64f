"""AlterConfigs and IncrementalAlterConfigs: what is wanted is checked, kept, and then counts.

One change at a time: what is to be changed again while a change of it is on its way to the disk
waits for that, so that it builds on what has come of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from application.commits import Commits
from application.configs.brokers import BrokerConfigs
from application.configs.describe import NO_CLIENT_METRICS, broker_id
from application.configs.effects import warn_without_effect
from application.configs.groups import GroupConfigs
from application.configs.unused import still_unused
from application.pending import Pending
from application.ports.config_repository import ConfigRepository
from application.ports.event_log import EventLog
from application.ports.topic_repository import TopicRepository
from application.topics.catalog import Catalog
from application.topics.turns import after_the_change
from domain.configs.alteration import Alteration, Operation, altered, altered_broker_configs
from domain.configs.broker import BrokerConfig
from domain.configs.effects import altered_without_effect
from domain.configs.group import GROUP_CONFIGS, validate_group_configs
from domain.configs.resource import ALL_BROKERS, Resource, ResourceKind
from domain.configs.topic import TOPIC_CONFIGS, validate_topic_configs
from domain.errors import (
    BrokerError,
    InvalidConfig,
    InvalidRequest,
    StorageFailed,
    UnknownTopicOrPartition,
)
from domain.topics.topic import check_topic_name

_NOTHING: Mapping[str, str] = {}


class WantedConfigs:
    """What a client asks for one resource; `replaces`: and nothing else is set from now on."""

    __slots__ = ("alterations", "replaces", "resource")

    def __init__(
        self, resource: Resource, alterations: Sequence[Alteration], replaces: bool = False
    ) -> None:
        self.resource = resource
        self.alterations = alterations
        self.replaces = replaces


class _Change:
    """Something new, and how it is kept, and what makes it count once it is."""

    __slots__ = ("done", "names", "resource", "save")

    def __init__(
        self,
        resource: Resource,
        before: Mapping[str, str],
        after: Mapping[str, str],
        save: Callable[[], None],
        done: Callable[[], None],
    ) -> None:
        self.resource = resource
        #: Of what changes; a value may be a secret, and stays out of the log.
        self.names = sorted({name for name, _ in before.items() ^ after.items()})
        self.save = save
        self.done = done


#: None: it is done.
Altered = BrokerError | None


class AlterConfigsService:
    def __init__(
        self,
        catalog: Catalog,
        topics: TopicRepository,
        repository: ConfigRepository,
        commits: Commits,
        config: BrokerConfig,
        broker_configs: BrokerConfigs,
        group_configs: GroupConfigs,
        events: EventLog,
    ) -> None:
        self._catalog = catalog
        self._topics = topics
        self._repository = repository
        self._commits = commits
        self._config = config
        self._broker_configs = broker_configs
        self._group_configs = group_configs
        self._events = events
        self._changing: set[Resource] = set()

    def alter(
        self, wanted: Sequence[WantedConfigs], validate_only: bool
    ) -> list[Altered] | Pending[list[Altered]]:
        """One answer a resource, in order, once all that changes is durable."""
        if any(self._is_changing(one.resource) for one in wanted):
            return after_the_change(self._commits, lambda: self.alter(wanted, validate_only))
        results: list[Altered] = [None] * len(wanted)
        changes: dict[int, _Change] = {}
        for place, one in enumerate(wanted):
            try:
                change = self._change(one)
            except BrokerError as refused:
                results[place] = refused.as_value()
            else:
                found = altered_without_effect(one.resource.kind, one.alterations)
                warn_without_effect(self._events, one.resource, found)
                if change is not None:
                    changes[place] = change
        if validate_only or not changes:
            return results
        pending: Pending[list[Altered]] = Pending()

        def committed(failure: StorageFailed | None) -> None:
            pending.resolve([failure if n in changes else one for n, one in enumerate(results)])

        self._stage(list(changes.values()), committed)
        return pending

    def _is_changing(self, resource: Resource) -> bool:
        if resource.kind is ResourceKind.TOPIC:
            return resource.name in self._catalog.changing
        if resource.kind is ResourceKind.BROKER and resource.name:
            resource = self._broker_configs.this_broker
        return resource in self._changing

    def _stage(self, changes: list[_Change], then: Callable[[StorageFailed | None], None]) -> None:
        for change in changes:
            change.save()
            self._mark(change.resource)

        def committed(failure: StorageFailed | None) -> None:
            for change in changes:
                self._unmark(change.resource)
                if failure is None:
                    change.done()
                    self._events.info(
                        "configs change",
                        resource=change.resource.kind.value,
                        name=change.resource.name,
                        configs=change.names,
                    )
            then(failure)

        self._commits.when_committed(committed)

    def _mark(self, resource: Resource) -> None:
        if resource.kind is ResourceKind.TOPIC:
            self._catalog.changing.add(resource.name)
        else:
            self._changing.add(resource)

    def _unmark(self, resource: Resource) -> None:
        if resource.kind is ResourceKind.TOPIC:
            self._catalog.changing.discard(resource.name)
        else:
            self._changing.discard(resource)

    def _change(self, wanted: WantedConfigs) -> _Change | None:
        """None where all stays as it is."""
        kind = wanted.resource.kind
        if kind is ResourceKind.TOPIC:
            return self._topic(wanted)
        if kind is ResourceKind.BROKER:
            return self._broker(wanted)
        if kind is ResourceKind.GROUP:
            return self._group(wanted)
        if kind is ResourceKind.BROKER_LOGGER:
            self._check_logger(wanted)
            return None
        raise InvalidRequest(NO_CLIENT_METRICS)

    def _topic(self, wanted: WantedConfigs) -> _Change | None:
        name = wanted.resource.name
        if not name:
            raise InvalidRequest("Default topic resources are not allowed.")
        topic = self._catalog.topic(name)
        current = _NOTHING if topic is None else topic.configs
        configs = altered(_kept(current, wanted), wanted.alterations, TOPIC_CONFIGS)
        check_topic_name(name)
        validate_topic_configs(configs, self._config)
        if topic is None:
            raise UnknownTopicOrPartition(f"The topic '{name}' does not exist.")
        if configs == current:
            return None
        changed = topic.configured(configs)
        return _Change(
            wanted.resource,
            current,
            configs,
            lambda: self._topics.save(changed),
            lambda: self._catalog.put(changed),
        )

    def _broker(self, wanted: WantedConfigs) -> _Change | None:
        resource = self._broker_resource(wanted.resource.name)
        current = self._broker_configs.of(resource)
        configs = altered_broker_configs(_kept(current, wanted), wanted.alterations)
        before = self._broker_configs.unused(resource)
        unused = still_unused(before, wanted.alterations, wanted.replaces)
        if configs == current and unused == before:
            return None
        return _Change(
            resource,
            {**before, **current},
            {**unused, **configs},
            lambda: self._repository.save(resource, {**unused, **configs}),
            lambda: self._broker_configs.put(resource, configs, unused),
        )

    def _broker_resource(self, name: str) -> Resource:
        if not name:
            return ALL_BROKERS
        this = self._config.node_id
        if broker_id(name, "Node") != this:
            raise InvalidRequest(f"Unexpected broker id, expected {this}, but received {name}")
        return self._broker_configs.this_broker

    def _group(self, wanted: WantedConfigs) -> _Change | None:
        resource = wanted.resource
        if not resource.name:
            raise InvalidRequest("Default group resources are not allowed.")
        current = self._group_configs.overrides(resource.name)
        configs = altered(_kept(current, wanted), wanted.alterations, GROUP_CONFIGS)
        validate_group_configs(configs, self._config)
        before = self._group_configs.unused(resource.name)
        unused = still_unused(before, wanted.alterations, wanted.replaces)
        if configs == current and unused == before:
            return None
        return _Change(
            resource,
            {**before, **current},
            {**unused, **configs},
            lambda: self._repository.save(resource, {**unused, **configs}),
            lambda: self._group_configs.put(resource.name, configs, unused),
        )

    def _check_logger(self, wanted: WantedConfigs) -> None:
        """There are none whose level could be changed."""
        name = wanted.resource.name
        this = self._config.node_id
        if broker_id(name, "Node") != this:
            raise InvalidRequest(f"Unexpected node id. Expected {this}, but received {name}")
        for logger, operation, _ in wanted.alterations:
            if operation in (Operation.APPEND, Operation.SUBTRACT):
                raise InvalidRequest(
                    f"{operation.name} operation is not allowed for the BROKER_LOGGER resource"
                )
            raise InvalidConfig(f"Logger {logger} does not exist!")


def _kept(current: Mapping[str, str], wanted: WantedConfigs) -> Mapping[str, str]:
    return _NOTHING if wanted.replaces else current
