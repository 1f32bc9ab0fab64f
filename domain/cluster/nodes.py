"""Nodes of the cluster, and leaders of partitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

Address = tuple[str, int]


class Node(NamedTuple):
    node_id: int
    rack: str | None = None
    #: By listener name. Without one, clients get the address that they connected to.
    addresses: Mapping[str, Address] = {}


class BrokerState(Enum):
    ALIVE = "alive"
    #: Other brokers do not count on it yet.
    STARTING = "starting"
    FENCED = "fenced"


class BrokerRegistration(NamedTuple):
    node: Node
    #: It leads nothing, and its commits change nothing.
    is_fenced: bool = False
    #: Its version.
    software: str = ""
    #: Of its right to write the store, as Kafka's broker epoch, but random: another one whenever it
    #: connects. 0: it has ended, or the broker has the store alone.
    session_id: int = 0
    #: As in Kafka's controlled shutdown, it gets no leaders while another broker lives.
    is_stopping: bool = False

    def fenced(self) -> BrokerRegistration:
        """As others see it, once they have ended its session."""
        return self._replace(is_fenced=True, session_id=0)

    @property
    def state(self) -> BrokerState:
        if not self.is_fenced:
            return BrokerState.ALIVE
        return BrokerState.STARTING if self.session_id else BrokerState.FENCED


def alive(brokers: Iterable[BrokerRegistration]) -> list[Node]:
    return [one.node for one in brokers if not one.is_fenced]


def staying(brokers: Iterable[BrokerRegistration]) -> list[Node]:
    """Those alive that do not stop."""
    return alive(one for one in brokers if not one.is_stopping)


def candidates(brokers: Sequence[BrokerRegistration]) -> list[Node]:
    """For partitions that need a leader: if all stop, those that are still alive."""
    return staying(brokers) or alive(brokers)


def ids_of(nodes: Iterable[Node]) -> set[int]:
    return {node.node_id for node in nodes}


class Leader(NamedTuple):
    node_id: int
    #: Rises when another node becomes leader, or the leader has lost acknowledged records.
    epoch: int


#: The leader is unknown, or the log is only read.
NO_LEADER = Leader(-1, 0)
