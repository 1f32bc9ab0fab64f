"""PartitionRegistration: which brokers may lead a partition, and which one does.

The brokers of a cluster share one store, which has the data once: a replica is a broker that may
lead, and holds no copy. So any broker can lead, if no replica is alive.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from domain.cluster.nodes import NO_LEADER, Leader, Node

#: The partitions that each broker leads which may be given more.
Loads = dict[int, int]


class PartitionRegistration(NamedTuple):
    #: The preferred leader first.
    replicas: tuple[int, ...]
    leader: int
    leader_epoch: int
    #: The replicas of a reassignment under way. The same replicas: the preferred one is to lead.
    target: tuple[int, ...] = ()

    @property
    def preferred(self) -> int:
        return self.replicas[0]

    @property
    def is_reassigned(self) -> bool:
        return bool(self.target) and self.target != self.replicas

    @property
    def led(self) -> Leader:
        return Leader(self.leader, self.leader_epoch)

    @property
    def shown_replicas(self) -> tuple[int, ...]:
        """With those of a reassignment, as in Kafka, and with the leader."""
        shown = dict.fromkeys((*self.replicas, *self.target))
        if self.leader != NO_LEADER.node_id:
            shown[self.leader] = None
        return tuple(shown)

    def raised(self) -> PartitionRegistration:
        """The same leader in a new epoch: it may have lost records."""
        return self._replace(leader_epoch=self.leader_epoch + 1)

    def led_by(self, node_id: int) -> PartitionRegistration:
        if node_id == self.leader:
            return self
        return self._replace(leader=node_id, leader_epoch=self.leader_epoch + 1)

    def taken_over(self, loads: Loads) -> PartitionRegistration:
        """The leader is fenced: the first replica in `loads` leads, else any broker there.

        A reassignment ends with that. Counts the partition in `loads`, which are not empty.
        """
        replicas = self.target or self.replicas
        leader = next((each for each in replicas if each in loads), None)
        return self._replace(replicas=replicas, target=()).led_by(_counted(leader, loads))

    def left(self, loads: Loads) -> PartitionRegistration:
        """The leader stops, and is not in `loads`: the replica there with the fewest partitions
        leads, else the broker with the fewest.
        """
        replicas = self.target or self.replicas
        living = [each for each in replicas if each in loads]
        leader = min(living, key=loads.__getitem__, default=None)
        return self._replace(replicas=replicas, target=()).led_by(_counted(leader, loads))

    def at_target(self, available: Collection[int]) -> PartitionRegistration:
        """As it is when the leader has done what `target` asks for; unchanged while no broker of a
        reassignment is available: alive, and not about to stop.
        """
        done = self._replace(replicas=self.target or self.replicas, target=())
        if not self.is_reassigned:
            leads = self.target and self.preferred in available
            return done.led_by(self.preferred) if leads else done
        if self.leader in self.target:
            return done  # as in Kafka, where a leader that is a replica stays
        leader = next((each for each in self.target if each in available), None)
        return self if leader is None else done.led_by(leader)


def _counted(leader: int | None, loads: Loads) -> int:
    if leader is None:
        leader = min(loads, key=lambda node_id: (loads[node_id], node_id))
    loads[leader] += 1
    return leader


def loads_of(available: Iterable[int], registrations: Iterable[PartitionRegistration]) -> Loads:
    loads = dict.fromkeys(available, 0)
    for one in registrations:
        if one.leader in loads:
            loads[one.leader] += 1
    return loads


def place(nodes: Sequence[Node], factor: int, start: int) -> tuple[int, ...]:
    """Replicas of a new partition, the preferred leader first.

    As in Kafka, leaders go round the brokers, and the replicas of a partition are in as many racks
    as possible. `start` rises with each partition. A leader's partitions have others as their next
    replicas, so that its load is shared if it stops.
    """
    if not factor:
        return ()
    ordered = _racks_alternate(nodes)
    count = len(ordered)
    first = start % count
    shift = 1 + (start // count) % max(count - 1, 1)
    others = [ordered[(first + (shift + i) % count) % count] for i in range(count)]
    leader = ordered[first]
    racks = {leader.rack}
    replicas = [leader]
    waiting = [one for one in others if one is not leader]
    while len(replicas) < factor:
        best = next((one for one in waiting if one.rack not in racks), None)
        if best is None:
            racks.clear()  # each rack once more
            best = waiting[0]
        waiting.remove(best)
        racks.add(best.rack)
        replicas.append(best)
    return tuple(one.node_id for one in replicas)


def _racks_alternate(nodes: Sequence[Node]) -> list[Node]:
    racks: dict[str, list[Node]] = {}
    for node in sorted(nodes):
        racks.setdefault(node.rack or "", []).append(node)
    rounds = zip_longest(*(racks[rack] for rack in sorted(racks)))
    return [node for each in rounds for node in each if node is not None]


def imbalanced(
    registrations: Mapping[int, PartitionRegistration], available: Collection[int]
) -> Iterator[int]:
    """Partitions that their preferred leaders do not lead, which are available."""
    for partition_id, one in registrations.items():
        if one.leader != one.preferred and one.preferred in available and not one.target:
            yield partition_id
