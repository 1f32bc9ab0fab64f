"""SharedPlacement: leaders of partitions, where several brokers share a store.

This broker leads a partition while the registration that all brokers see says so, but not

- before it has begun, with a new leader epoch of all that it leads (`Leadership.begin`),
- after it was fenced, until it has begun again,
- while it hands the partition over.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from application.cluster.registrations import Changed, Registrations
from application.ports.membership import Membership
from application.state.notifying import notify_each
from domain.cluster.nodes import NO_LEADER, Leader, Node, alive, ids_of

Moved = Callable[[Collection[int]], None]


class SharedPlacement:
    is_alone = False

    def __init__(self, registrations: Registrations, membership: Membership) -> None:
        self.node_id = membership.node_id
        self._registrations = registrations
        self._membership = membership
        self._when_moved: list[Moved] = []
        self._leaving: set[int] = set()
        self._has_begun = False
        self._read_nodes()
        registrations.on_changed(self._registrations_changed)
        membership.on_changed(self._nodes_changed)

    def _read_nodes(self) -> None:
        self._nodes = alive(self._membership.brokers())
        self._is_fenced = self.node_id not in ids_of(self._nodes)

    # ---- Placement

    def nodes(self) -> Sequence[Node]:
        return self._nodes

    @property
    def has_lease(self) -> bool:
        return self._membership.has_lease

    @property
    def controller_id(self) -> int:
        """No broker waits for it, and two for a moment do no harm."""
        return min((node.node_id for node in self._nodes), default=NO_LEADER.node_id)

    def leader(self, partition_id: int) -> Leader:
        registration = self._registrations.get(partition_id)
        if registration is None:
            return NO_LEADER
        node_id, epoch = registration.led
        if node_id == self.node_id and (not self._has_begun or partition_id in self._leaving):
            # Below that of the leader: librdkafka takes no other leader in an epoch that it knows.
            return Leader(NO_LEADER.node_id, epoch - 1)
        return Leader(node_id, epoch)

    def replicas(self, partition_id: int) -> Sequence[int]:
        registration = self._registrations.get(partition_id)
        return () if registration is None else registration.shown_replicas

    def on_moved(self, call: Moved) -> None:
        self._when_moved.append(call)

    # ---- for this broker's own leadership

    @property
    def is_fenced(self) -> bool:
        return self._is_fenced

    @property
    def has_begun(self) -> bool:
        return self._has_begun

    def begin(self) -> None:
        """Leads, from now on."""
        self._has_begun = True
        self._moved(self._own())

    def leave(self, partition_ids: Iterable[int]) -> None:
        """Leads these no more, while their hand-over is not durable."""
        leaving = [each for each in partition_ids if each not in self._leaving]
        self._leaving.update(leaving)
        self._moved(leaving)

    def stay(self, partition_ids: Iterable[int]) -> None:
        """The hand-over has failed: leads again."""
        staying = [each for each in partition_ids if each in self._leaving]
        self._leaving.difference_update(staying)
        self._moved(staying)

    def _own(self) -> list[int]:
        return [each for each, one in self._registrations.items() if one.leader == self.node_id]

    # ---- what changes

    def _registrations_changed(self, changes: Sequence[Changed]) -> None:
        moved = []
        for partition_id, before, after in changes:
            if after is None or after.leader != self.node_id:
                self._leaving.discard(partition_id)
            if before is None or after is None or before.led != after.led:
                moved.append(partition_id)
        # Responses that are cached have replicas, too.
        self._moved(moved)

    def _nodes_changed(self) -> None:
        self._read_nodes()
        if self._has_begun and self._is_fenced:
            self._has_begun = False
            self._moved(self._own())
        else:
            self._moved(())

    def _moved(self, partition_ids: Collection[int]) -> None:
        faults = notify_each(self._when_moved, lambda call: call(partition_ids))
        if faults:
            raise faults[0]
