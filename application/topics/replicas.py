"""Replicas: reassignments and elections, as Kafka's controller decides them.

Of a broker that is the whole cluster, each partition has one replica, which leads: there is never
anything to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from application.cluster.replica_assignment import ReplicaAssignment
from application.ports.pending import Pending
from application.state.catalog import Catalog
from domain.cluster.registration import PartitionRegistration
from domain.cluster_errors import ElectionNotNeeded, NoReassignmentInProgress
from domain.errors import BrokerError, UnknownTopicOrPartition
from domain.topics.topic import Topic

if TYPE_CHECKING:
    from application.cluster.moves import Moves

#: Topic and partition index.
Place = tuple[str, int]
#: The new replicas; None: cancels a reassignment.
Reassignment = tuple[Place, Sequence[int] | None]
#: None: done.
Outcomes = dict[Place, BrokerError | None]

#: Kafka's words for an unknown topic, and an unknown partition.
_TO_REASSIGN = "Unable to find a topic named {0}.", "Unable to find partition {0}:{1}."
_TO_ELECT = "No such topic as {0}", "No such partition as {0}-{1}"


class ReplicasService:
    def __init__(
        self, catalog: Catalog, assignment: ReplicaAssignment, moves: Moves | None
    ) -> None:
        self._catalog = catalog
        self._assignment = assignment
        self._moves = moves

    def factor(self, topic: Topic) -> int:
        """The number of replicas of its first partition."""
        return self._assignment.factor(topic)

    def reassign(
        self, requested: Sequence[Reassignment], may_change_factor: bool = True
    ) -> list[BrokerError | None] | Pending[list[BrokerError | None]]:
        """The error of each, or None. May raise NotInMemory (`ClusterChanges.check`)."""
        self._check_newest()
        outcomes: list[BrokerError | None] = []
        ids: dict[int, int] = {}
        replicas_of: dict[int, Sequence[int] | None] = {}
        for number, (place, replicas) in enumerate(requested):
            error = None
            try:
                partition_id = self._find(place, _TO_REASSIGN)
                if replicas is not None:
                    self._assignment.check_replicas(replicas)
                elif self._moves is None:
                    raise NoReassignmentInProgress
                ids[number] = partition_id
                replicas_of[partition_id] = replicas
            except BrokerError as refused:
                error = refused.as_value()
            outcomes.append(error)
        if self._moves is None or not ids:
            return outcomes

        def with_moved(moved: dict[int, BrokerError | None]) -> list[BrokerError | None]:
            for number, partition_id in ids.items():
                outcomes[number] = moved[partition_id]
            return outcomes

        return self._moves.reassign(replicas_of, may_change_factor).map(with_moved)

    def reassignments(
        self, topics: Iterable[tuple[str, Sequence[int]]] | None
    ) -> Iterator[tuple[str, int, PartitionRegistration]]:
        """Those under way: all, or of these partitions."""
        under_way = {} if self._moves is None else self._moves.reassignments()
        if not under_way:
            return
        if topics is None:
            topics = ((topic.name, range(len(topic.partition_ids))) for topic in self._catalog)
        for name, indexes in topics:
            topic = self._catalog.topic(name)
            ids = () if topic is None else topic.partition_ids
            for index in indexes:
                if 0 <= index < len(ids) and ids[index] in under_way:
                    yield name, index, under_way[ids[index]]

    def all_places(self) -> list[Place]:
        return [
            (topic.name, index)
            for topic in self._catalog
            for index in range(len(topic.partition_ids))
        ]

    def elect(
        self, places: Sequence[Place], is_preferred: bool, timeout_ms: int
    ) -> Outcomes | Pending[Outcomes]:
        """Elects the preferred leaders. Each partition has a leader while a broker is alive, so
        there are no unclean elections.

        May raise NotInMemory (`ClusterChanges.check`).
        """
        self._check_newest()
        outcomes: Outcomes = {}
        ids: dict[Place, int] = {}
        for place in places:
            try:
                ids[place] = self._find(place, _TO_ELECT)
                outcomes[place] = ElectionNotNeeded()
            except UnknownTopicOrPartition as unknown:
                outcomes[place] = unknown.as_value()
        if self._moves is None or not is_preferred or not ids:
            return outcomes
        moved = self._moves.elect_preferred(list(ids.values()), timeout_ms)
        return moved.map(lambda found: {**outcomes, **{place: found[ids[place]] for place in ids}})

    def _check_newest(self) -> None:
        """Another broker may just have created a topic."""
        if self._moves is not None:
            self._moves.check()

    def _find(self, place: Place, words: tuple[str, str]) -> int:
        name, index = place
        topic = self._catalog.topic(name)
        ids = () if topic is None else topic.partition_ids
        if 0 <= index < len(ids):
            return ids[index]
        unknown_topic, unknown_partition = words
        raise UnknownTopicOrPartition((unknown_partition if ids else unknown_topic).format(*place))
