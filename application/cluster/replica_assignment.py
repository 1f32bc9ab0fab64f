"""ReplicaAssignment: on which brokers new partitions are, as clients ask or by round robin."""

from __future__ import annotations

from collections.abc import Sequence

from domain.cluster.nodes import Node
from domain.errors import InvalidReplicaAssignment, InvalidReplicationFactor
from domain.topics.topic import Topic


class ReplicaAssignment:
    """Of a broker that is the whole cluster."""

    def __init__(self, node_id: int) -> None:
        self._node_id = node_id

    def _registered(self) -> set[int]:
        return {self._node_id}

    def _alive(self) -> Sequence[Node]:
        """Those that may be leaders."""
        return (Node(self._node_id),)

    def factor(self, topic: Topic) -> int:
        """Of its first partition."""
        return 1

    def check_factor(self, factor: int) -> None:
        """Fenced brokers count, as in Kafka."""
        if not self._alive():
            raise InvalidReplicationFactor(
                "All brokers are currently fenced or in controlled shutdown."
            )
        registered = len(self._registered())
        if factor > registered:
            raise InvalidReplicationFactor(
                f"The target replication factor of {factor} cannot be reached because only "
                f"{registered} broker(s) are registered."
            )

    def at_most(self, factor: int) -> int:
        return min(factor, len(self._registered()))

    def check_replicas(self, replicas: Sequence[int], factor: int | None = None) -> None:
        """Of one partition; `factor`: of the other partitions."""
        if not replicas:
            raise InvalidReplicaAssignment(
                "The manual partition assignment includes an empty replica list."
            )
        registered = self._registered()
        before = None
        for broker_id in sorted(replicas):  # Kafka reports the first error in this order
            if broker_id not in registered:
                raise InvalidReplicaAssignment(
                    f"The manual partition assignment includes broker {broker_id}, but no such "
                    "broker is registered."
                )
            if broker_id == before:
                raise InvalidReplicaAssignment(
                    f"The manual partition assignment includes the broker {broker_id} more than "
                    "once."
                )
            before = broker_id
        if factor is not None and len(replicas) != factor:
            raise InvalidReplicaAssignment(
                f"The manual partition assignment includes a partition with {len(replicas)} "
                "replica(s), but this is not consistent with previous partitions, which have "
                f"{factor} replica(s)."
            )

    def check_alive(self, index: int, replicas: Sequence[int]) -> None:
        """A new partition needs a leader."""
        if all(node.node_id not in replicas for node in self._alive()):
            raise InvalidReplicaAssignment(
                f"All brokers specified in the manual partition assignment for partition {index} "
                "are fenced or in controlled shutdown."
            )

    def assign(self, partition_ids: Sequence[int], factor: int) -> None:
        """Stages the registrations of new partitions, in the call that stages their topic."""

    def assign_to(self, partition_ids: Sequence[int], replicas: Sequence[Sequence[int]]) -> None:
        """The same, with the replicas of each."""

    def join(self, partition_ids: Sequence[int], factor: int) -> None:
        """Stages this broker as a replica of the partitions that have fewer than `factor`."""
