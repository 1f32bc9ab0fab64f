"""Placement: which nodes are alive, which one leads a partition, which one coordinates a group."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from domain.cluster.nodes import Leader, Node


class Placement(Protocol):
    @property
    def node_id(self) -> int:
        """Of this broker."""
        ...

    def nodes(self) -> Sequence[Node]:
        """All that are alive, this one among them."""
        ...

    def leader(self, partition_id: int) -> Leader: ...

    def coordinator(self, group_id: str) -> int:
        """The node that coordinates the group."""
        ...

    def on_moved(self, call: Callable[[Collection[int]], None]) -> None:
        """Calls back with the ids of partitions that have another leader, or another epoch; with
        none where only a node comes or goes.

        A store that several nodes share refuses batches of an epoch that is over: a commit may be
        under way when its partition moves.
        """
        ...
