"""The cluster: its metadata quorum, and the registration of its brokers."""

from __future__ import annotations

from collections.abc import Sequence

from application.ports.clock import Clock
from application.ports.cluster_changes import ClusterChanges
from application.ports.membership import Membership
from application.ports.pending import Pending
from application.ports.placement import Placement
from application.state.commits import Commits
from domain.cluster.nodes import NO_LEADER, BrokerRegistration, BrokerState, Node, ids_of
from domain.cluster_errors import BrokerIdNotRegistered
from domain.errors import InvalidRequest, StorageFailed


class ClusterService:
    def __init__(
        self,
        placement: Placement,
        clock: Clock,
        commits: Commits,
        cluster_changes: ClusterChanges,
        membership: Membership | None,
    ) -> None:
        """Without `membership`, this broker is the whole cluster."""
        self._placement = placement
        self._clock = clock
        self._commits = commits
        self._cluster_changes = cluster_changes
        self._membership = membership

    @property
    def controller_id(self) -> int:
        """To which clients send changes: while the lease of this broker is over, another one."""
        placement = self._placement
        if placement.has_lease:
            return placement.controller_id
        others = ids_of(placement.nodes()) - {placement.node_id}
        return min(others, default=NO_LEADER.node_id)

    def caught_up(self) -> tuple[int, int]:
        """The only voter, and the time: its metadata is always up to date."""
        return self._placement.controller_id, self._clock.now_ms()

    def brokers(self) -> Sequence[BrokerRegistration]:
        """All registered ones, by node id. This one is fenced while its lease is over."""
        if self._membership is None:
            found = [BrokerRegistration(node) for node in self._placement.nodes()]
        else:
            found = list(self._membership.brokers())
        if not self._placement.has_lease:
            own = self._placement.node_id
            found = [one.fenced() if one.node.node_id == own else one for one in found]
        return found

    def fenced_nodes(self) -> Sequence[Node]:
        return [one.node for one in self.brokers() if one.is_fenced]

    def lease_left_s(self, node_id: int) -> float | None:
        """None of a broker that is alone."""
        return None if self._membership is None else self._membership.lease_left_s(node_id)

    def unregister(self, broker_id: int) -> Pending[StorageFailed | None]:
        """Raises NotInMemory, or if the broker is alive, or starts. Fails if it starts meanwhile.

        Kafka unregisters a live broker too, and then no client finds it.
        """
        self._cluster_changes.check()
        if broker_id in {self._placement.node_id, *ids_of(self._placement.nodes())}:
            raise InvalidRequest(f"Broker ID {broker_id} is alive: stop it first")
        if all(node.node_id != broker_id for node in self.fenced_nodes()):
            raise BrokerIdNotRegistered(f"Broker ID {broker_id} is not currently registered")
        starting = (one for one in self.brokers() if one.state is BrokerState.STARTING)
        if any(one.node.node_id == broker_id for one in starting):
            raise InvalidRequest(f"Broker ID {broker_id} is starting: stop it first")
        assert self._membership is not None
        self._membership.unregister(broker_id)
        done: Pending[StorageFailed | None] = Pending()
        self._commits.when_committed(done.resolve)
        return done
