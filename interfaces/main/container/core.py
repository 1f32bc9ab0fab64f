"""Core: a store with its repositories, and the parts that every service has."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from application.background.runner import Runner
from application.ports.clock import Clock
from application.ports.cluster_changes import ClusterChanges
from application.ports.commit import at_once
from application.ports.event_log import EventLog
from application.ports.placement import Placement
from application.ports.scheduler import Scheduler
from application.state.catalog import Catalog
from application.state.commits import Commits
from application.state.fetch_purgatory import FetchPurgatory
from application.state.min_insync_replicas import MinInsyncReplicas
from application.state.storage_health import StorageHealth
from domain.configs.broker import BrokerConfig
from infrastructure.cluster.cluster_changes import OwnChanges
from infrastructure.cluster.placement import SingleNode
from infrastructure.observability.timed_commit import TimedCommit
from infrastructure.storage.engine import Storage
from infrastructure.storage.repositories.acl_repository import StoredAclRepository
from infrastructure.storage.repositories.cluster_repository import StoredClusterRepository
from infrastructure.storage.repositories.config_repository import StoredConfigRepository
from infrastructure.storage.repositories.group_repository import StoredGroupRepository
from infrastructure.storage.repositories.marker_repository import StoredMarkerRepository
from infrastructure.storage.repositories.numbered_offsets import PENDING_OFFSETS, NumberedOffsets
from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
from infrastructure.storage.repositories.quota_repository import StoredQuotaRepository
from infrastructure.storage.repositories.stream_index import StoredStreamIndex
from infrastructure.storage.repositories.topic_repository import StoredTopicRepository
from infrastructure.storage.repositories.transaction_index import StoredTransactionIndex
from infrastructure.storage.repositories.transaction_repository import StoredTransactionRepository
from infrastructure.storage.repositories.user_repository import StoredUserRepository

if TYPE_CHECKING:
    from application.cluster.registrations import Registrations
    from application.cluster.shared_placement import SharedPlacement


class Core:
    def __init__(
        self,
        config: BrokerConfig,
        scheduler: Scheduler,
        clock: Clock,
        events: EventLog,
        storage: Storage,
        placement: Placement | None = None,
        cluster_changes: ClusterChanges | None = None,
    ) -> None:
        """Without these, those of the store: this broker has it alone, or shares it."""
        log, state = storage.log, storage.state
        self.config = config
        self.scheduler = scheduler
        self.clock = clock
        self.events = events
        self.storage = storage
        self.log = log
        self.commit = TimedCommit(storage.commit)
        self.cluster = StoredClusterRepository(state)
        self.topics = StoredTopicRepository(log, state)
        self.partitions = StoredPartitionRepository(log, state)
        self.transaction_index = StoredTransactionIndex(state)
        self.stream_index = StoredStreamIndex(state)
        self.transactions = StoredTransactionRepository(state, storage.fetch_row)
        self.groups = StoredGroupRepository(state)
        self.pending_offsets = NumberedOffsets(state, PENDING_OFFSETS)
        self.configs = StoredConfigRepository(state)
        self.acls = StoredAclRepository(state)
        self.users = StoredUserRepository(state)
        self.quotas = StoredQuotaRepository(state)
        self.purgatory = FetchPurgatory()
        self.storage_health = StorageHealth(events, clock, storage.reserve)
        self.commits = Commits(
            self.commit, scheduler, self.partitions, self.purgatory, self.storage_health
        )
        self.min_insync_replicas = MinInsyncReplicas(storage.copies)
        self.markers = StoredMarkerRepository(state, self.commits.when_committed)
        self.background = Runner(scheduler, clock, self.commits)
        self.membership = storage.membership
        self.cluster_changes: ClusterChanges = (
            cluster_changes or storage.cluster_changes or OwnChanges(storage.info.losses)
        )
        #: None: this broker is the whole cluster.
        self.registrations: Registrations | None
        self.shared_placement: SharedPlacement | None
        self.registrations, self.shared_placement = self._share()
        self.placement: Placement = (
            placement
            or self.shared_placement
            or SingleNode(config.node_id, config.broker_rack, storage.info.losses)
        )
        self.catalog = Catalog(
            self.topics,
            self.partitions,
            config,
            self.storage_health,
            self.placement,
            self.purgatory,
        )

    def _share(self) -> tuple[Registrations, SharedPlacement] | tuple[None, None]:
        if self.membership is None:
            return None, None
        from application.cluster.registrations import Registrations
        from application.cluster.shared_placement import SharedPlacement
        from infrastructure.storage.repositories.registration_repository import (
            StoredRegistrationRepository,
        )

        repository = StoredRegistrationRepository(self.storage.state)
        registrations = Registrations(repository, self.commits, self.cluster_changes)
        return registrations, SharedPlacement(registrations, self.membership)

    def commit_at_once(self) -> None:
        """At a start, before requests. Raises StorageFailed."""
        at_once(partial(self.commit.commit, waits=True))
