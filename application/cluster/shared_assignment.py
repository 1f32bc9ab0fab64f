"""SharedReplicaAssignment: new partitions, over all brokers that share the store."""

from __future__ import annotations

from collections.abc import Sequence

from application.cluster.registrations import Registrations
from application.cluster.replica_assignment import ReplicaAssignment
from application.ports.membership import Membership
from application.ports.registration_repository import RegistrationChange
from domain.cluster.nodes import NO_LEADER, Node, candidates, ids_of
from domain.cluster.registration import PartitionRegistration, place
from domain.topics.topic import Topic


class SharedReplicaAssignment(ReplicaAssignment):
    def __init__(self, registrations: Registrations, membership: Membership) -> None:
        super().__init__(membership.node_id)
        self._registrations = registrations
        self._membership = membership

    def _registered(self) -> set[int]:
        return ids_of(one.node for one in self._membership.brokers())

    def _alive(self) -> Sequence[Node]:
        return candidates(self._membership.brokers())

    def factor(self, topic: Topic) -> int:
        registration = self._registrations.find(topic.partition_ids[0])
        return 1 if registration is None else len(registration.replicas)

    def assign(self, partition_ids: Sequence[int], factor: int) -> None:
        alive = self._alive()
        others = [one.node for one in self._membership.brokers() if one.node not in alive]
        living = min(factor, len(alive))
        # Ids rise over all topics: so do the places of their leaders.
        self.assign_to(
            partition_ids,
            [
                place(alive, living, each) + place(others, factor - living, each)
                for each in partition_ids
            ],
        )

    def assign_to(self, partition_ids: Sequence[int], replicas: Sequence[Sequence[int]]) -> None:
        alive = ids_of(self._alive())
        self._registrations.save(
            [
                (each, PartitionRegistration(tuple(of_one), _first(of_one, alive), 0))
                for each, of_one in zip(partition_ids, replicas, strict=True)
            ]
        )

    def join(self, partition_ids: Sequence[int], factor: int) -> None:
        changes: list[RegistrationChange] = []
        for each in partition_ids:
            found = self._registrations.find(each)
            if found is not None:
                replicas = found.target or found.replicas  # others may join just now
                if len(replicas) < factor and self._node_id not in replicas:
                    target = _turned((*replicas, self._node_id), each)
                    changes.append((each, found._replace(target=target)))
        self._registrations.save(changes)


def _turned(replicas: tuple[int, ...], by: int) -> tuple[int, ...]:
    """Of many partitions each replica is the preferred leader of some."""
    first = by % len(replicas)
    return replicas[first:] + replicas[:first]


def _first(replicas: Sequence[int], alive: set[int]) -> int:
    """Without one, the controller takes the partition over when a broker is alive."""
    return next((each for each in replicas if each in alive), NO_LEADER.node_id)
