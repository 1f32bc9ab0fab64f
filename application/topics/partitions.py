"""CreatePartitions: adds partitions to topics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from application.cluster.replica_assignment import ReplicaAssignment
from application.ports.event_log import EventLog, topic_lines
from application.ports.pending import Pending
from application.ports.request_log import NO_CLIENT, Requester
from application.ports.topic_repository import TopicRepository
from application.state.runtime import respond
from application.topics.create import MAX_PARTITIONS_PER_REQUEST
from application.topics.state import CountPartitions, TopicState, partition_counts, uncounted
from domain.errors import (
    BrokerError,
    InvalidPartitions,
    InvalidReplicaAssignment,
    InvalidTopic,
    PolicyViolation,
    UnknownTopicOrPartition,
)
from domain.topics.topic import Topic


class MorePartitions(NamedTuple):
    """The requested total, and the brokers of each new partition or None."""

    name: str
    total: int
    assignments: list[list[int]] | None


Grown = Topic | BrokerError


class CreatePartitionsService:
    def __init__(
        self,
        repository: TopicRepository,
        topics: TopicState,
        assignment: ReplicaAssignment,
        events: EventLog,
    ) -> None:
        self._repository = repository
        self._topics = topics
        self._assignment = assignment
        self._events = events

    def grow(
        self,
        requested: list[MorePartitions],
        validate_only: bool,
        by: Requester = NO_CLIENT,
        count: CountPartitions = uncounted,
    ) -> list[Grown] | Pending[list[Grown]]:
        """May raise NotInMemory (`ClusterChanges.check`)."""
        if requested and not validate_only:
            self._topics.changes.check()
        results: list[Grown] = []
        for more in requested:
            try:
                results.append(self._grown(more, validate_only, count))
            except BrokerError as refused:
                results.append(refused.as_value())
        if not validate_only:
            grown = [topic for topic in results if isinstance(topic, Topic)]
            self._topics.when_durable(grown, partial(self._log, by=by))
        return respond(self._topics.keys(more.name for more in requested), results)

    def _grown(self, more: MorePartitions, validate_only: bool, count: CountPartitions) -> Topic:
        topic = self._topics.find(more.name)
        if topic is None:
            raise UnknownTopicOrPartition("This server does not host this topic-partition.")
        if topic.is_internal:
            # The partition of a group depends on their number.
            raise InvalidTopic(f"Internal topic {more.name} can get no partitions.")
        additional = self._check(topic, more)
        count(additional)
        if validate_only:
            return topic
        added = self._repository.reserve_partition_ids(additional)
        if more.assignments is not None:
            self._assignment.assign_to(added, more.assignments)
        else:
            self._assignment.assign(added, self._assignment.factor(topic))
        grown = topic.grown(added)
        self._topics.save(grown)
        return grown

    def _log(self, grown: Sequence[Topic], by: Requester) -> None:
        for line in topic_lines(partition_counts(grown)):
            self._events.info("partitions_created", **line, **by.fields())

    def _check(self, topic: Topic, more: MorePartitions) -> int:
        present = len(topic.partition_ids)
        if more.total == present:
            raise InvalidPartitions(f"Topic already has {present} partition(s).")
        if more.total < present:
            raise InvalidPartitions(
                f"The topic {topic.name} currently has {present} partition(s); {more.total} would "
                "not be an increase."
            )
        additional = more.total - present
        if additional > MAX_PARTITIONS_PER_REQUEST:
            raise PolicyViolation("Excessively large number of partitions per request.")
        if more.assignments is not None:
            if len(more.assignments) != additional:
                raise InvalidReplicaAssignment(
                    f"Attempted to add {additional} additional partition(s), but only "
                    f"{len(more.assignments)} assignment(s) were specified."
                )
            factor = self._assignment.factor(topic)
            for index, replicas in enumerate(more.assignments, present):
                self._assignment.check_replicas(replicas, factor)
                self._assignment.check_alive(index, replicas)
        else:
            self._assignment.check_factor(self._assignment.factor(topic))
        return additional
