"""CreateTopics: what is asked for is checked as Kafka's controller checks it, then staged."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from application.commits import Commits
from application.configs.effects import warn_without_effect
from application.pending import Pending
from application.ports.event_log import EventLog
from application.ports.topic_repository import TopicRepository
from application.topics.catalog import Catalog
from domain.configs.broker import BrokerConfig
from domain.configs.effects import without_effect
from domain.configs.resource import Resource, ResourceKind
from domain.configs.topic import validate_topic_configs
from domain.errors import (
    BrokerError,
    InvalidPartitions,
    InvalidReplicaAssignment,
    InvalidReplicationFactor,
    InvalidRequest,
    InvalidTopic,
    PolicyViolation,
    StorageFailed,
    TopicAlreadyExists,
)
from domain.topics.topic import Topic, check_new_topic_name

USE_DEFAULT = -1
#: Kafka's controller takes no more in one request.
MAX_PARTITIONS_PER_REQUEST = 10_000


class NewTopic:
    """What a client asks for; an assignment is (partition index, broker ids)."""

    __slots__ = ("assignments", "configs", "name", "partition_count", "replication_factor")

    def __init__(
        self,
        name: str,
        partition_count: int = USE_DEFAULT,
        replication_factor: int = USE_DEFAULT,
        assignments: list[tuple[int, list[int]]] | None = None,
        configs: Mapping[str, str | None] | None = None,
    ) -> None:
        self.name = name
        self.partition_count = partition_count
        self.replication_factor = replication_factor
        self.assignments = assignments or []
        self.configs = configs or {}


Created = Topic | BrokerError


class CreateTopicsService:
    def __init__(
        self,
        catalog: Catalog,
        topics: TopicRepository,
        commits: Commits,
        config: BrokerConfig,
        new_topic_id: Callable[[], bytes],
        events: EventLog,
    ) -> None:
        self._catalog = catalog
        self._topics = topics
        self._commits = commits
        self._config = config
        self._new_topic_id = new_topic_id
        self._events = events
        #: Who else has asked for a topic that is being created.
        self._waiting: dict[str, list[Pending[Created]]] = {}

    def create(
        self, wanted: list[NewTopic], validate_only: bool
    ) -> list[Created] | Pending[list[Created]]:
        """One answer per topic, in order, once those that can be made are durable."""
        if sum(map(self._wanted_partitions, wanted)) > MAX_PARTITIONS_PER_REQUEST:
            excessive = PolicyViolation("Excessively large number of partitions per request.")
            return [excessive for _ in wanted]
        results: list[Created] = []
        for new in wanted:
            try:
                results.append(self._topic(new, self._check(new), validate_only))
            except BrokerError as refused:
                results.append(refused.as_value())
            else:
                self._warn(new)
        staged = [] if validate_only else [one for one in results if isinstance(one, Topic)]
        # That such a topic exists is not true before its commit is done.
        unsure = [new.name in self._waiting for new in wanted]
        if not (staged or any(unsure)):
            return results
        pending: Pending[list[Created]] = Pending()

        def committed(failure: StorageFailed | None) -> None:
            told = _doubted(results, unsure, failure) if failure else results
            pending.resolve(told if validate_only else settled(told, failure))

        if staged:
            self._stage(staged, committed)
        else:
            self._commits.when_committed(committed, staged=False)
        return pending

    def create_automatically(self, name: str) -> Pending[Created]:
        """A topic that somebody has asked for and that is not there, with the broker's defaults."""
        pending: Pending[Created] = Pending()
        if name in self._waiting:
            self._waiting[name].append(pending)
            return pending
        try:
            new = NewTopic(name)
            topic = self._topic(new, self._check(new), validate_only=False)
        except BrokerError as refused:
            pending.resolve(refused.as_value())
            return pending
        self._stage([topic], lambda failure: pending.resolve(failure or topic))
        return pending

    def _stage(self, topics: list[Topic], then: Callable[[StorageFailed | None], None]) -> None:
        for topic in topics:
            self._topics.save(topic)
            self._catalog.changing.add(topic.name)
            self._waiting[topic.name] = []

        def committed(failure: StorageFailed | None) -> None:
            waiting: list[tuple[Pending[Created], Topic]] = []
            for topic in topics:
                self._catalog.changing.remove(topic.name)
                waiting += [(one, topic) for one in self._waiting.pop(topic.name)]
                if failure is None:
                    self._catalog.put(topic)
            then(failure)
            for one, topic in waiting:
                one.resolve(failure or topic)

        self._commits.when_committed(committed)

    def _topic(self, new: NewTopic, partition_count: int, validate_only: bool) -> Topic:
        configs = {name: value for name, value in new.configs.items() if value is not None}
        if validate_only:
            ids = tuple(range(partition_count))
        else:
            ids = self._topics.reserve_partition_ids(partition_count)
        return Topic(new.name, self._new_topic_id(), ids, configs)

    def _warn(self, new: NewTopic) -> None:
        found = without_effect(ResourceKind.TOPIC, new.configs)
        warn_without_effect(self._events, Resource(ResourceKind.TOPIC, new.name), found)

    def _wanted_partitions(self, new: NewTopic) -> int:
        if new.assignments:
            return len(new.assignments)
        if new.partition_count == USE_DEFAULT:
            return self._config.num_partitions
        return max(new.partition_count, 0)

    def _check(self, new: NewTopic) -> int:
        """The number of partitions the topic is to have."""
        check_new_topic_name(new.name)
        if self._catalog.topic(new.name) is not None or new.name in self._catalog.changing:
            raise TopicAlreadyExists(f"Topic '{new.name}' already exists.")
        colliding = self._catalog.colliding(new.name)
        if colliding is not None:
            raise InvalidTopic(f"Topic '{new.name}' collides with existing topic: {colliding}")
        validate_topic_configs(new.configs, self._config)
        if new.assignments:
            return self._check_assignments(new)
        self._check_numbers(new)
        return self._wanted_partitions(new)

    def _check_numbers(self, new: NewTopic) -> None:
        replicas = new.replication_factor
        if replicas == USE_DEFAULT:
            replicas = self._config.default_replication_factor
        if replicas <= 0:
            raise InvalidReplicationFactor(
                "Replication factor must be larger than 0, or -1 to use the default value."
            )
        if new.partition_count <= 0 and new.partition_count != USE_DEFAULT:
            raise InvalidPartitions(
                "Number of partitions was set to an invalid non-positive value."
            )
        if replicas > 1:
            raise InvalidReplicationFactor(
                f"Unable to replicate the partition {replicas} time(s): The target replication "
                f"factor of {replicas} cannot be reached because only 1 broker(s) are registered."
            )

    def _check_assignments(self, new: NewTopic) -> int:
        if new.replication_factor != USE_DEFAULT:
            raise InvalidRequest(
                "A manual partition assignment was specified, but replication factor was not "
                "set to -1."
            )
        if new.partition_count != USE_DEFAULT:
            raise InvalidRequest(
                "A manual partition assignment was specified, but numPartitions was not set to -1."
            )
        seen: set[int] = set()
        for index, replicas in new.assignments:
            if index in seen:
                raise InvalidReplicaAssignment(
                    f"Found multiple manual partition assignments for partition {index}"
                )
            seen.add(index)
            check_replicas(replicas, self._config.node_id)
        if seen != set(range(len(seen))):
            raise InvalidReplicaAssignment(
                "partitions should be a consecutive 0-based integer sequence"
            )
        return len(seen)


def check_replicas(replicas: list[int], node_id: int) -> None:
    if not replicas:
        raise InvalidReplicaAssignment(
            "The manual partition assignment includes an empty replica list."
        )
    before = None
    for broker_id in sorted(replicas):  # which of two faults is named first, is as in Kafka
        if broker_id != node_id:
            raise InvalidReplicaAssignment(
                f"The manual partition assignment includes broker {broker_id}, but no such "
                "broker is registered."
            )
        if broker_id == before:
            raise InvalidReplicaAssignment(
                f"The manual partition assignment includes the broker {node_id} more than once."
            )
        before = broker_id


def settled(results: list[Created], failure: StorageFailed | None) -> list[Created]:
    """The answers once the commit is done: a failure is that of every topic it was to keep."""
    if failure is None:
        return results
    return [failure if isinstance(one, Topic) else one for one in results]


def _doubted(results: list[Created], unsure: list[bool], failure: StorageFailed) -> list[Created]:
    return [failure if doubt else one for one, doubt in zip(results, unsure, strict=True)]
