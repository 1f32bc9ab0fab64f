"""CreateTopics: the checks of Kafka's controller, then the topics are staged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from application.cluster.replica_assignment import ReplicaAssignment
from application.ports.event_log import EventLog, topic_lines
from application.ports.pending import Pending
from application.ports.request_log import NO_CLIENT, Requester
from application.ports.topic_repository import TopicRepository
from application.state.catalog import Catalog
from application.state.runtime import respond
from application.topics.effects import warn_without_effect
from application.topics.state import CountPartitions, TopicState, partition_counts, uncounted
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
    TopicAlreadyExists,
)
from domain.topics.topic import Topic, check_new_topic_name

USE_DEFAULT = -1
#: The limit of Kafka's controller.
MAX_PARTITIONS_PER_REQUEST = 10_000


class NewTopic(NamedTuple):
    """A requested topic; an assignment is (partition index, broker ids)."""

    name: str
    partition_count: int = USE_DEFAULT
    replication_factor: int = USE_DEFAULT
    assignments: Sequence[tuple[int, list[int]]] = ()
    configs: Mapping[str, str | None] = {}


Created = Topic | BrokerError


class CreateTopicsService:
    def __init__(
        self,
        catalog: Catalog,
        repository: TopicRepository,
        topics: TopicState,
        assignment: ReplicaAssignment,
        config: BrokerConfig,
        new_topic_id: Callable[[], bytes],
        events: EventLog,
    ) -> None:
        self._catalog = catalog
        self._repository = repository
        self._topics = topics
        self._assignment = assignment
        self._config = config
        self._new_topic_id = new_topic_id
        self._events = events

    def create(
        self,
        requested: list[NewTopic],
        validate_only: bool,
        by: Requester = NO_CLIENT,
        count: CountPartitions = uncounted,
    ) -> list[Created] | Pending[list[Created]]:
        """One result per topic, in order, once all created topics are durable.

        May raise NotInMemory (`ClusterChanges.check`).
        """
        if requested and not validate_only:
            self._topics.changes.check()
        if sum(map(self._partition_count, requested)) > MAX_PARTITIONS_PER_REQUEST:
            excessive = PolicyViolation("Excessively large number of partitions per request.")
            return [excessive for _ in requested]
        results = [self._new(new, validate_only, count) for new in requested]
        # After all are checked: one request may create colliding names, as in Kafka.
        created: list[Topic] = []
        for new, topic in zip(requested, results, strict=True):
            if isinstance(topic, Topic):
                self._warn(new)
                if not validate_only:
                    self._save(new, topic)
                    created.append(topic)
        self._topics.when_durable(created, partial(self._log, automatic=False, by=by))
        return respond(self._topics.keys(new.name for new in requested), results)

    def create_automatically(
        self, names: list[str], by: Requester = NO_CLIENT, partition_count: int = USE_DEFAULT
    ) -> list[Created] | Pending[list[Created]]:
        """Creates topics on first use, otherwise with the defaults of the broker.

        May raise NotInMemory (`ClusterChanges.check`).
        """
        if any(self._topics.find(name) is None for name in names):
            self._topics.changes.check()
        results: list[Created] = []
        created: list[Topic] = []
        for name in names:
            topic: Created | None = self._topics.find(name)
            if topic is None:
                new = NewTopic(name, partition_count)
                topic = self._new(new, validate_only=False)
                if isinstance(topic, Topic):
                    self._save(new, topic)
                    created.append(topic)
            results.append(topic)
        self._topics.when_durable(created, partial(self._log, automatic=True, by=by))
        return respond(self._topics.keys(names), results)

    def create_internal(self, new: NewTopic) -> Topic:
        """Stages a topic whose name clients cannot use. The caller has the right."""
        topic = self._topic(new, new.partition_count, validate_only=False)
        factor = self._assignment.at_most(self._config.default_replication_factor)
        self._save(new._replace(replication_factor=factor), topic)
        self._topics.when_durable([topic], partial(self._log, automatic=True, by=NO_CLIENT))
        return topic

    def join_internal(self, topic: Topic) -> None:
        """Stages this broker as a replica of partitions with fewer than default. The caller has the
        right.
        """
        self._assignment.join(topic.partition_ids, self._config.default_replication_factor)

    def _save(self, new: NewTopic, topic: Topic) -> None:
        # First: who sees the topic finds the leaders of its partitions.
        if new.assignments:
            replicas = [of_one for _, of_one in sorted(new.assignments)]
            self._assignment.assign_to(topic.partition_ids, replicas)
        else:
            self._assignment.assign(topic.partition_ids, self.factor(new))
        self._topics.save(topic)

    def factor(self, new: NewTopic) -> int:
        """How many replicas its partitions get."""
        if new.assignments:
            return len(new.assignments[0][1])
        if new.replication_factor == USE_DEFAULT:
            return self._config.default_replication_factor
        return new.replication_factor

    def _log(self, created: Sequence[Topic], automatic: bool, by: Requester) -> None:
        for line in topic_lines(partition_counts(created)):
            self._events.info("topic_created", **line, automatic=automatic, **by.fields())

    def _new(
        self, new: NewTopic, validate_only: bool, count: CountPartitions = uncounted
    ) -> Created:
        try:
            partition_count = self._check(new)
            count(partition_count)
            return self._topic(new, partition_count, validate_only)
        except BrokerError as refused:
            return refused.as_value()

    def _topic(self, new: NewTopic, partition_count: int, validate_only: bool) -> Topic:
        configs = {name: value for name, value in new.configs.items() if value is not None}
        if validate_only:
            ids = tuple(range(partition_count))
        else:
            ids = self._repository.reserve_partition_ids(partition_count)
        return Topic(new.name, self._new_topic_id(), ids, configs)

    def _warn(self, new: NewTopic) -> None:
        found = without_effect(ResourceKind.TOPIC, new.configs)
        warn_without_effect(self._events, Resource(ResourceKind.TOPIC, new.name), found)

    def _partition_count(self, new: NewTopic) -> int:
        if new.assignments:
            return len(new.assignments)
        if new.partition_count == USE_DEFAULT:
            return self._config.num_partitions
        return max(new.partition_count, 0)

    def _check(self, new: NewTopic) -> int:
        """Returns the number of partitions."""
        if self._topics.find(new.name) is not None or new.name in self._topics.runtime:
            raise TopicAlreadyExists(f"Topic '{new.name}' already exists.")
        check_new_topic_name(new.name)
        colliding = self._catalog.colliding(new.name)
        if colliding is not None:
            raise InvalidTopic(f"Topic '{new.name}' collides with existing topic: {colliding}")
        validate_topic_configs(new.configs, self._config)
        if new.assignments:
            return self._check_assignments(new)
        self._check_numbers(new)
        return self._partition_count(new)

    def _check_numbers(self, new: NewTopic) -> None:
        replicas = self.factor(new)
        if replicas <= 0:
            raise InvalidReplicationFactor(
                "Replication factor must be larger than 0, or -1 to use the default value."
            )
        if new.partition_count <= 0 and new.partition_count != USE_DEFAULT:
            raise InvalidPartitions(
                "Number of partitions was set to an invalid non-positive value."
            )
        try:
            self._assignment.check_factor(replicas)
        except InvalidReplicationFactor as refused:
            raise InvalidReplicationFactor(
                f"Unable to replicate the partition {replicas} time(s): {refused.message}"
            ) from None

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
        factor = None
        for index, replicas in new.assignments:
            if index in seen:
                raise InvalidReplicaAssignment(
                    f"Found multiple manual partition assignments for partition {index}"
                )
            seen.add(index)
            self._assignment.check_replicas(replicas, factor)
            self._assignment.check_alive(index, replicas)
            factor = len(replicas)
        if seen != set(range(len(seen))):
            raise InvalidReplicaAssignment(
                "partitions should be a consecutive 0-based integer sequence"
            )
        return len(seen)
