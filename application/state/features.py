"""Features: the finalized levels of the cluster's features (KIP-584)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from application.ports.cluster_changes import ClusterChanges
from application.ports.cluster_repository import ClusterRepository
from application.state.commits import Commits
from application.state.runtime import Aggregates, Done, Runtime
from domain.features import (
    DEFAULT_LEVELS,
    FEATURES,
    SHARED_FEATURES,
    TRANSACTION_VERSION,
    FinalizedFeatures,
    Supported,
    lowered_to,
)


class Features(Aggregates[None, FinalizedFeatures]):
    def __init__(
        self,
        cluster: ClusterRepository,
        commits: Commits,
        changes: ClusterChanges,
        is_shared: bool = False,
    ) -> None:
        """`is_shared`: several brokers may share the store."""
        self._is_shared = is_shared
        self.supported: Supported = SHARED_FEATURES if is_shared else FEATURES
        self._cluster = cluster
        self._commits = commits
        self._changes = changes
        self._followed(cluster.features())
        cluster.follow_features(self._followed)
        self._runtime: Runtime[None, FinalizedFeatures] = Runtime(self)

    def _followed(self, stored: FinalizedFeatures | None) -> None:
        finalized = stored or FinalizedFeatures(0, DEFAULT_LEVELS)
        self._finalized = lowered_to(self.supported, finalized) if self._is_shared else finalized

    @property
    def finalized(self) -> FinalizedFeatures:
        return self._finalized

    @property
    def transaction_version(self) -> int:
        return self._finalized.levels[TRANSACTION_VERSION]

    def newest(self) -> FinalizedFeatures:
        """With changes that are not durable yet."""
        return self._runtime.newest(None) or self._finalized

    def update(self, levels: Mapping[str, int], then: Done) -> None:
        """May raise NotInMemory (`ClusterChanges.check`)."""
        self._changes.check()
        before = self.newest()
        after = {**before.levels, **levels}
        if after == before.levels:
            self._runtime.when_durable(None, then)
            return
        self._runtime.persist(None, (FinalizedFeatures(before.epoch + 1, after),), then)

    # ---- Aggregates

    def stage(self, key: None, changes: Sequence[FinalizedFeatures], done: Done) -> None:
        self._cluster.save_features(changes[-1])
        self._commits.when_committed(done)

    def committed(self, key: None, changes: Sequence[FinalizedFeatures]) -> None:
        self._followed(changes[-1])
