"""FakePlacement: one node, until a test adds others and moves partitions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from domain.cluster.nodes import Leader, Node


class FakePlacement:
    def __init__(self, node_id: int, rack: str | None = None) -> None:
        self.node_id = node_id
        self._nodes = [Node(node_id, rack)]
        self.has_lease = True
        self._leaders: dict[int, Leader] = {}
        self._when_moved: list[Callable[[Collection[int]], None]] = []

    def nodes(self) -> Sequence[Node]:
        return self._nodes

    def leader(self, partition_id: int) -> Leader:
        return self._leaders.get(partition_id, Leader(self.node_id, 0))

    @property
    def is_alone(self) -> bool:
        return len(self._nodes) == 1

    @property
    def controller_id(self) -> int:
        return min(node.node_id for node in self._nodes)

    def replicas(self, partition_id: int) -> Sequence[int]:
        return (self.leader(partition_id).node_id,)

    def on_moved(self, call: Callable[[Collection[int]], None]) -> None:
        self._when_moved.append(call)

    def add(self, node: Node) -> None:
        self._nodes.append(node)
        self._changed()

    def remove(self, node: Node) -> None:
        self._nodes.remove(node)
        self._changed()

    def move(self, partition_id: int, leader: Leader) -> None:
        self.move_all({partition_id: leader})

    def move_all(self, leaders: Mapping[int, Leader]) -> None:
        """In one call back."""
        self._leaders.update(leaders)
        self._changed(*leaders)

    def _changed(self, *partition_ids: int) -> None:
        for call in self._when_moved:
            call(partition_ids)
