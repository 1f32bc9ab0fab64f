"""Nodes of the cluster, and leaders of partitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Address = tuple[str, int]


class Node(NamedTuple):
    node_id: int
    rack: str | None = None
    #: By listener name. Without one, clients get the address that they connected to.
    addresses: Mapping[str, Address] = {}


class BrokerRegistration(NamedTuple):
    node: Node
    #: It leads nothing, and its commits change nothing.
    is_fenced: bool = False
    #: Its version.
    software: str = ""
    #: It is fenced, but not stopped.
    is_starting: bool = False


class Leader(NamedTuple):
    node_id: int
    #: Rises when another node becomes leader, or the leader has lost acknowledged records.
    epoch: int


#: The leader is unknown, or the log is only read.
NO_LEADER = Leader(-1, 0)
