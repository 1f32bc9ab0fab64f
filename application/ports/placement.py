"""Placement: live nodes, and leaders of partitions."""

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

    @property
    def is_alone(self) -> bool:
        """No other broker can join: this one leads and coordinates everything."""
        ...

    @property
    def has_lease(self) -> bool:
        """By its own clock. Without it, others may have taken the place of this broker already."""
        ...

    @property
    def controller_id(self) -> int: ...

    def leader(self, partition_id: int) -> Leader: ...

    def replicas(self, partition_id: int) -> Sequence[int]:
        """The nodes that may lead the partition, the preferred leader first."""
        ...

    def on_moved(self, call: Callable[[Collection[int]], None]) -> None:
        """Calls back with the ids of partitions whose leader or leader epoch has changed; with none
        if only the nodes have changed. By then all that was committed under earlier leaders can be
        read, the rows of groups and transactions too, and the catalogue has all topics of it.

        A partition leaves a living node by that node's own commit; what a fenced one has in flight
        is refused by the store that the nodes share.
        """
        ...
