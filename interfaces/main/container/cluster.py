"""Makes the parts of a broker that shares its store with others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from application.cluster.replica_assignment import ReplicaAssignment
from interfaces.main.container.core import Core

if TYPE_CHECKING:
    from application.cluster.controller import Controller
    from application.cluster.leadership import Leadership
    from application.cluster.moves import Moves


class Cluster(NamedTuple):
    assignment: ReplicaAssignment
    #: None of a broker that has its store alone.
    moves: Moves | None = None
    leadership: Leadership | None = None
    controller: Controller | None = None


def make_cluster(core: Core) -> Cluster:
    placement, registrations, membership = (
        core.shared_placement,
        core.registrations,
        core.membership,
    )
    if placement is None or registrations is None or membership is None:
        return Cluster(ReplicaAssignment(core.config.node_id))
    from application.cluster.cluster_log import ClusterLog
    from application.cluster.controller import Controller
    from application.cluster.leadership import Leadership
    from application.cluster.moves import Moves
    from application.cluster.shared_assignment import SharedReplicaAssignment

    # First: leaders that move because of a broker are logged after it.
    ClusterLog(registrations, membership, core.events)
    return Cluster(
        SharedReplicaAssignment(registrations, membership),
        Moves(registrations, membership, core.cluster_changes, core.background),
        Leadership(
            placement,
            registrations,
            membership,
            core.cluster_changes,
            core.catalog,
            core.partitions,
            core.background,
        ),
        Controller(
            placement,
            registrations,
            membership,
            core.cluster_changes,
            core.catalog,
            core.background,
            core.config,
            core.storage.info.losses,
        ),
    )
