"""Membership: the brokers that are registered with a store that several share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from domain.cluster.nodes import BrokerRegistration, Node


class Membership(Protocol):
    """A broker is fenced when its lease is over and another broker has ended its session, or after
    it has stopped. From then on its commits change nothing, nor does one with changes that were
    staged before it had a new session.
    """

    @property
    def node_id(self) -> int:
        """Of this broker."""
        ...

    def brokers(self) -> Sequence[BrokerRegistration]:
        """All registered ones, by node id, this one too.

        As new as the rows after `ClusterChanges.check`, which may call back, too.
        """
        ...

    @property
    def has_lease(self) -> bool:
        """By this broker's own clock. Afterwards others may have fenced it already."""
        ...

    def lease_left_s(self, node_id: int) -> float:
        """How long a broker has the lease, if it does not renew it. 0: it has none.

        Of another one: how long this broker will wait until it ends its session.
        """
        ...

    def on_changed(self, call: Callable[[], None]) -> None:
        """Calls back when a broker has joined, changed its addresses, stopped, or been fenced,
        or is about to stop.

        This one may be fenced for a moment, too: the store has lost its announcement.
        """
        ...

    def announce(self, node: Node) -> None:
        """This broker serves clients at these addresses: it is fenced no longer.

        Again when they have changed.
        """
        ...

    def announce_stop(self) -> None:
        """This broker is about to stop: others give it no leaders. Before that it serves on."""
        ...

    def unregister(self, node_id: int) -> None:
        """Stages that a fenced broker is forgotten. The commit fails if it has started again."""
        ...
