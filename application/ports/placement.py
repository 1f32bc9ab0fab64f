"""Placement: live nodes, leaders of partitions, coordinators of groups."""

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
        """All live nodes, including this one."""
        ...

    def leader(self, partition_id: int) -> Leader: ...

    def coordinator(self, group_id: str) -> int:
        """The node that coordinates the group."""
        ...

    def on_moved(self, call: Callable[[Collection[int]], None]) -> None:
        """Calls back with the ids of partitions whose leader or leader epoch has changed; with none
        if only the nodes have changed.

        A store that several nodes share refuses batches of an old epoch: a commit may be in flight
        when its partition moves.
        """
        ...
