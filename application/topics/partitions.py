"""CreatePartitions: a topic gets more of them, never fewer."""

from __future__ import annotations

from collections.abc import Callable

from application.commits import Commits
from application.pending import Pending
from application.ports.topic_repository import TopicRepository
from application.topics.catalog import Catalog
from application.topics.create import MAX_PARTITIONS_PER_REQUEST, check_replicas, settled
from application.topics.turns import after_the_change
from application.watching import Watching
from domain.configs.broker import BrokerConfig
from domain.errors import (
    BrokerError,
    InvalidPartitions,
    InvalidReplicaAssignment,
    PolicyViolation,
    StorageFailed,
    UnknownTopicOrPartition,
)
from domain.topics.topic import Topic


class MorePartitions:
    """What a client asks for: the new total, and the brokers of each new partition or None."""

    __slots__ = ("assignments", "name", "total")

    def __init__(self, name: str, total: int, assignments: list[list[int]] | None) -> None:
        self.name = name
        self.total = total
        self.assignments = assignments


Grown = Topic | BrokerError


class CreatePartitionsService:
    def __init__(
        self,
        catalog: Catalog,
        topics: TopicRepository,
        commits: Commits,
        watching: Watching,
        config: BrokerConfig,
    ) -> None:
        self._catalog = catalog
        self._topics = topics
        self._commits = commits
        self._watching = watching
        self._config = config

    def grow(
        self, wanted: list[MorePartitions], validate_only: bool
    ) -> list[Grown] | Pending[list[Grown]]:
        if any(more.name in self._catalog.changing for more in wanted):
            return after_the_change(self._commits, lambda: self.grow(wanted, validate_only))
        results: list[Grown] = []
        for more in wanted:
            try:
                results.append(self._grown(more, validate_only))
            except BrokerError as refused:
                results.append(refused.as_value())
        staged = [one for one in results if isinstance(one, Topic)]
        if validate_only or not staged:
            return results
        pending: Pending[list[Grown]] = Pending()
        self._stage(staged, lambda failure: pending.resolve(settled(results, failure)))
        return pending

    def _stage(self, topics: list[Topic], then: Callable[[StorageFailed | None], None]) -> None:
        for topic in topics:
            self._topics.save(topic)
            self._catalog.changing.add(topic.name)

        def committed(failure: StorageFailed | None) -> None:
            for topic in topics:
                self._catalog.changing.discard(topic.name)
                if failure is None:
                    self._catalog.put(topic)
            then(failure)
            if failure is None:
                for topic in topics:
                    self._watching.grown(topic.name)

        self._commits.when_committed(committed)

    def _grown(self, more: MorePartitions, validate_only: bool) -> Topic:
        topic = self._catalog.topic(more.name)
        if topic is None:
            raise UnknownTopicOrPartition("This server does not host this topic-partition.")
        additional = self._check(topic, more)
        if validate_only:
            return topic
        return topic.grown(self._topics.reserve_partition_ids(additional))

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
            for replicas in more.assignments:
                check_replicas(replicas, self._config.node_id)
        return additional
