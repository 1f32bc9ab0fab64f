"""Node and Leader: who serves the cluster, and who leads a partition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Address = tuple[str, int]


class Node(NamedTuple):
    node_id: int
    rack: str | None = None
    #: By listener name. Without one, clients are given the address they connected to.
    addresses: Mapping[str, Address] = {}


class Leader(NamedTuple):
    node_id: int
    #: Rises whenever another node leads, or the leader has lost records that it had acknowledged.
    epoch: int


#: In place of a leader that is not known, or where a log is only looked into.
NO_LEADER = Leader(-1, 0)
