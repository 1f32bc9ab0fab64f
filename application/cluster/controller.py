"""Controller: gives partitions of fenced brokers to living ones, and balances leaders.

Each broker has one; that of the living broker with the smallest node id works. Two for a moment do
no harm: both decide from the newest registrations, one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain, islice

from application.background.job import COMMIT, SLICE, Job
from application.background.loaded import loaded
from application.background.runner import Runner
from application.cluster.leadership import PARTITIONS_PER_COMMIT
from application.cluster.registrations import Changed, Registrations
from application.cluster.shared_placement import SharedPlacement
from application.ports.cluster_changes import ClusterChanges
from application.ports.membership import Membership
from application.ports.registration_repository import RegistrationChange
from application.state.catalog import Catalog
from domain.cluster.nodes import NO_LEADER, candidates, ids_of, staying
from domain.cluster.registration import PartitionRegistration, imbalanced, loads_of, place
from domain.configs.broker import BrokerConfig


class Controller:
    def __init__(
        self,
        placement: SharedPlacement,
        registrations: Registrations,
        membership: Membership,
        cluster_changes: ClusterChanges,
        catalog: Catalog,
        background: Runner,
        config: BrokerConfig,
        losses: int,
    ) -> None:
        """`losses`: the leader epoch of a broker that had the store alone."""
        self._placement = placement
        self._registrations = registrations
        self._membership = membership
        self._cluster_changes = cluster_changes
        self._catalog = catalog
        self._background = background
        self._config = config
        self._losses = losses

    def start(self) -> None:
        self._registrations.on_changed(self._registrations_changed)
        self._membership.on_changed(self._wake)
        self._background.every(self._interval_ms, self._balance)
        self._wake()

    def _interval_ms(self) -> int:
        return self._config.leader_imbalance_check_interval_seconds * 1000

    def _wake(self) -> None:
        if self._is_controller:
            self._background.start(self._take_over)

    def _registrations_changed(self, changes: Sequence[Changed]) -> None:
        alive = self._alive()
        if any(after is not None and after.leader not in alive for _, _, after in changes):
            self._wake()

    @property
    def _is_controller(self) -> bool:
        return self._placement.controller_id == self._placement.node_id

    def _alive(self) -> set[int]:
        return ids_of(self._placement.nodes())

    def _available(self) -> set[int]:
        return ids_of(staying(self._membership.brokers()))

    # ---- partitions whose leader is fenced

    def _take_over(self) -> Job[None]:
        # First: all changes of a failed commit are given up only then.
        yield SLICE
        while self._is_controller and self._leaderless():
            yield from loaded(self._stage_leaders)
            yield COMMIT
            yield SLICE

    def _leaderless(self) -> list[tuple[int, PartitionRegistration | None]]:
        """None: of a topic that a broker has created which had the store alone."""
        alive = self._alive()
        unregistered = (
            (each, None)
            for topic in self._catalog
            for each in topic.partition_ids
            if self._registrations.find(each) is None
        )
        orphaned = (
            (each, one) for each, one in self._registrations.newest() if one.leader not in alive
        )
        return list(islice(chain(unregistered, orphaned), PARTITIONS_PER_COMMIT))

    def _stage_leaders(self) -> None:
        self._cluster_changes.check()
        available = ids_of(candidates(self._membership.brokers()))
        if not available:
            return
        loads = loads_of(available, self._registrations.values())
        changes: list[RegistrationChange] = []
        for partition_id, one in self._leaderless():
            registration = one or self._new(partition_id)
            changes.append((partition_id, registration.taken_over(loads)))
        self._registrations.save(changes)

    def _new(self, partition_id: int) -> PartitionRegistration:
        nodes = self._placement.nodes()
        factor = min(self._config.default_replication_factor, len(nodes))
        replicas = place(nodes, factor, partition_id)
        return PartitionRegistration(replicas, NO_LEADER.node_id, self._losses)

    # ---- preferred leaders

    def _balance(self) -> Job[None]:
        """Each partition once: one that cannot be moved waits for the next check."""
        waiting: list[int] = []
        if self._is_balancing:
            waiting += imbalanced(dict(self._registrations.items()), self._available())
        while waiting and self._is_balancing:
            yield SLICE
            yield from loaded(partial(self._stage_preferred, waiting[:PARTITIONS_PER_COMMIT]))
            if (yield COMMIT) is None:
                del waiting[:PARTITIONS_PER_COMMIT]

    @property
    def _is_balancing(self) -> bool:
        return self._config.auto_leader_rebalance_enable and self._is_controller

    def _stage_preferred(self, partition_ids: Sequence[int]) -> None:
        """Their leaders hand them over."""
        self._cluster_changes.check()
        found = ((each, self._registrations.find(each)) for each in partition_ids)
        newest = {each: one for each, one in found if one is not None}
        self._registrations.save(
            [
                (each, newest[each]._replace(target=newest[each].replicas))
                for each in imbalanced(newest, self._available())
            ]
        )
