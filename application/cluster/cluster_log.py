"""ClusterLog: logs which other brokers join and leave, and the leaders this one gains or loses.

Brokers that are there when this one starts are not logged, nor are leaders of new topics. Leaders
that move in one commit are one line.
"""

from __future__ import annotations

from collections.abc import Sequence

from application.cluster.registrations import Changed, Registrations
from application.ports.event_log import EventLog
from application.ports.membership import Membership
from domain.cluster.nodes import NO_LEADER, alive, ids_of


class ClusterLog:
    def __init__(
        self, registrations: Registrations, membership: Membership, events: EventLog
    ) -> None:
        self._registrations = registrations
        self._membership = membership
        self._events = events
        #: None: the brokers of the start are not known yet.
        self._alive: set[int] | None = self._others() if membership.brokers() else None
        membership.on_changed(self._brokers_changed)
        registrations.on_changed(self._registrations_changed)

    def _others(self) -> set[int]:
        return ids_of(alive(self._membership.brokers())) - {self._membership.node_id}

    def _brokers_changed(self) -> None:
        before, now = self._alive, self._others()
        self._alive = now
        if before is None:
            return
        for node_id in sorted(now - before):
            self._events.info("broker_joined", broker=node_id)
        for node_id in sorted(before - now):
            self._left(node_id)

    def _left(self, node_id: int) -> None:
        led = sum(one.leader == node_id for one in self._registrations.values())
        if led:
            self._events.warning("broker_left", broker=node_id, partitions=led)
        else:
            self._events.info("broker_left", broker=node_id, partitions=led)

    def _registrations_changed(self, changes: Sequence[Changed]) -> None:
        own = self._membership.node_id
        moves = [
            (before.leader, after.leader)
            for _, before, after in changes
            if before is not None and after is not None and before.leader != after.leader
        ]
        gained_from = [before for before, after in moves if after == own]
        lost_to = [after for before, after in moves if before == own]
        if gained_from or lost_to:
            self._events.info(
                "leaders_moved",
                gained=len(gained_from),
                from_brokers=_brokers(gained_from),
                lost=len(lost_to),
                to_brokers=_brokers(lost_to),
            )


def _brokers(node_ids: Sequence[int]) -> list[int]:
    return sorted({*node_ids} - {NO_LEADER.node_id})
