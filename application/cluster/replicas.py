"""Replicas: leader and replicas of partitions, as Kafka describes them.

Replicas hold no copies: all that are alive are in sync.
"""

from __future__ import annotations

from typing import NamedTuple

from application.ports.placement import Placement
from domain.cluster.nodes import NO_LEADER


class DescribedReplicas(NamedTuple):
    #: -1: none that is alive.
    leader_id: int
    leader_epoch: int
    replicas: list[int]
    in_sync: list[int]
    offline: list[int]

    @property
    def is_preferred(self) -> bool:
        return self.replicas[:1] == [self.leader_id]


class ReplicasOf:
    """For one response: many partitions have the same replicas."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._alive = {node.node_id for node in placement.nodes()}
        self._has_lease = placement.has_lease
        if not self._has_lease:  # others may lead what this one leads
            self._alive.discard(placement.node_id)
        self._known: dict[tuple[int, ...], tuple[list[int], list[int], list[int]]] = {}

    def __call__(self, partition_id: int) -> DescribedReplicas:
        node_id, epoch = self._placement.leader(partition_id)
        replicas = tuple(self._placement.replicas(partition_id))
        known = self._known.get(replicas)
        if known is None:
            known = self._known[replicas] = (
                list(replicas),
                [each for each in replicas if each in self._alive],
                [each for each in replicas if each not in self._alive],
            )
        leader_id = node_id if node_id in self._alive else NO_LEADER.node_id
        if not self._has_lease and node_id == self._placement.node_id:
            # It may go on in this epoch, of which clients take no other leader than the first.
            epoch -= 1
        return DescribedReplicas(leader_id, epoch, *known)
