"""SingleNode: this broker is the whole cluster, and leads everything.

Its leader epoch is how often its store may have lost acknowledged data. So a consumer that has read
lost records finds that their epoch ended earlier, and does not read other records at their offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from domain.cluster.nodes import Leader, Node


class SingleNode:
    __slots__ = ("_leader", "_nodes", "_replicas", "controller_id", "node_id")

    is_alone = has_lease = True

    def __init__(self, node_id: int, rack: str | None, leader_epoch: int) -> None:
        self.node_id = self.controller_id = node_id
        self._nodes = (Node(node_id, rack),)
        self._leader = Leader(node_id, leader_epoch)
        self._replicas = (node_id,)

    def nodes(self) -> Sequence[Node]:
        return self._nodes

    def leader(self, partition_id: int) -> Leader:
        return self._leader

    def replicas(self, partition_id: int) -> Sequence[int]:
        return self._replicas

    def on_moved(self, call: Callable[[Collection[int]], None]) -> None:
        """Nothing ever moves."""
