"""Broker: all services, by subject, for the interfaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from application.background.runner import Runner
from application.cluster.service import ClusterService
from application.configs.alter import AlterConfigsService
from application.configs.brokers import BrokerConfigs
from application.configs.describe import DescribeConfigsService
from application.groups.configs import GroupConfigs
from application.groups.coordinator import GroupCoordinator
from application.groups.delete import DeleteGroupsService
from application.groups.expiry import OffsetExpiry
from application.groups.lag import GroupLagService
from application.groups.offset_cleanup import OffsetCleanup
from application.groups.offset_commit import OffsetCommitService
from application.groups.offset_delete import OffsetDeleteService
from application.groups.offset_fetch import OffsetFetchService
from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.groups.reset import ResetOffsetsService
from application.groups.transactional_offsets import TransactionalOffsets
from application.partitions.compaction import CompactionService
from application.partitions.delete_records import DeleteRecordsService
from application.partitions.describe_producers import DescribeProducersService
from application.partitions.fetch import FetchService
from application.partitions.fetch_sessions import FetchSessions
from application.partitions.init_producer_id import InitProducerIdService
from application.partitions.list_offsets import ListOffsetsService
from application.partitions.log_dirs import LogDirsService
from application.partitions.markers import TransactionMarkers
from application.partitions.offset_for_leader_epoch import OffsetForLeaderEpochService
from application.partitions.produce import ProduceService
from application.partitions.producer_expiry import ProducerExpiry
from application.partitions.retention import RetentionService
from application.partitions.trimming import Trimming
from application.ports.authorizer import Authorizer
from application.ports.partition_repository import PartitionRepository
from application.ports.password_hashing import PasswordHashing
from application.ports.pending import Pending, resolved
from application.ports.placement import Placement
from application.records.browse import BrowseService
from application.records.clone import CloneService
from application.records.send import SendService
from application.records.send_in_transaction import SendInTransaction
from application.records.tail import TailService
from application.reset import ResetService
from application.security.acls import AclService
from application.security.authentication import Authentication
from application.security.client_quotas import ClientQuotas
from application.security.connection_rates import ConnectionRates
from application.security.quotas import QuotaService
from application.security.users import Users
from application.state.catalog import Catalog
from application.state.commits import Commits
from application.state.coordinators import Coordinators
from application.state.features import Features
from application.topics.create import CreateTopicsService
from application.topics.delete import DeleteTopicsService
from application.topics.dropping import Dropping
from application.topics.internal_topics import InternalTopicSetup
from application.topics.metadata import MetadataService
from application.topics.partitions import CreatePartitionsService
from application.topics.replicas import ReplicasService
from application.transactions.coordinator import TransactionCoordinator
from application.transactions.end_wait import EndWait
from application.transactions.ends import Ends
from application.transactions.expiry import TransactionExpiry
from application.transactions.late import LateTransactions
from application.transactions.listing import ListTransactionsService
from application.transactions.registry import TransactionRegistry
from application.transactions.take_over import TakeOverService
from application.transactions.verification import TransactionVerification
from domain.configs.broker import BrokerConfig
from domain.errors import StorageFailed

if TYPE_CHECKING:  # imported by brokers that share a store, or have a raw listener
    from application.cluster.controller import Controller
    from application.cluster.leadership import Leadership
    from application.streams.service import StreamService
    from application.transactions.requested_markers import RequestedMarkers


@dataclass(frozen=True)
class MessageServices:
    """Records: produce, fetch, search and delete."""

    produce: ProduceService
    fetch: FetchService
    fetch_sessions: FetchSessions
    list_offsets: ListOffsetsService
    offset_for_leader_epoch: OffsetForLeaderEpochService
    delete_records: DeleteRecordsService
    init_producer_id: InitProducerIdService
    transaction_markers: TransactionMarkers
    describe_producers: DescribeProducersService
    browse: BrowseService
    send: SendService
    send_in_transaction: SendInTransaction
    tail: TailService
    clone: CloneService


@dataclass(frozen=True)
class TopicServices:
    """Topics and the replicas of their partitions."""

    metadata: MetadataService
    create_topics: CreateTopicsService
    delete_topics: DeleteTopicsService
    create_partitions: CreatePartitionsService
    replicas: ReplicasService
    log_dirs: LogDirsService


@dataclass(frozen=True)
class GroupServices:
    """Groups of both protocols, and committed offsets."""

    registry: Groups
    coordinators: Coordinators
    coordinator: GroupCoordinator
    configs: GroupConfigs
    offsets: Offsets
    offset_commit: OffsetCommitService
    transactional_offsets: TransactionalOffsets
    offset_fetch: OffsetFetchService
    offset_delete: OffsetDeleteService
    reset_offsets: ResetOffsetsService
    lag: GroupLagService
    delete_groups: DeleteGroupsService
    offset_cleanup: OffsetCleanup
    offset_expiry: OffsetExpiry


@dataclass(frozen=True)
class TransactionServices:
    """Transactional producers."""

    registry: TransactionRegistry
    coordinators: Coordinators
    coordinator: TransactionCoordinator
    end_wait: EndWait
    take_over: TakeOverService
    ends: Ends
    verification: TransactionVerification
    #: None of a broker that is alone.
    requested_markers: RequestedMarkers | None
    list_transactions: ListTransactionsService
    expiry: TransactionExpiry
    late: LateTransactions


@dataclass(frozen=True)
class ConfigServices:
    """Configs of all resources."""

    describe_configs: DescribeConfigsService
    alter_configs: AlterConfigsService
    of_broker: BrokerConfigs


@dataclass(frozen=True)
class SecurityServices:
    """Who clients are, and what they may do."""

    users: Users
    passwords: PasswordHashing
    authentication: Authentication
    #: None without an authorizer.
    acls: AclService | None


@dataclass(frozen=True)
class Broker:
    cluster_id: str
    config: BrokerConfig
    authorizer: Authorizer
    quotas: ClientQuotas
    quota_service: QuotaService
    connection_rates: ConnectionRates
    placement: Placement
    cluster: ClusterService
    #: None of a broker that has its store alone.
    leadership: Leadership | None
    controller: Controller | None
    features: Features
    catalog: Catalog
    commits: Commits
    partitions: PartitionRepository
    messages: MessageServices
    topics: TopicServices
    groups: GroupServices
    transactions: TransactionServices
    configs: ConfigServices
    security: SecurityServices
    reset: ResetService
    dropping: Dropping
    trimming: Trimming
    compaction: CompactionService
    retention: RetentionService
    producer_expiry: ProducerExpiry
    internal_topics: Sequence[InternalTopicSetup]
    #: None without raw listeners.
    streams: StreamService | None
    background: Runner

    def start_upkeep(self) -> None:
        """Starts the background jobs; those that change logs only where that is allowed."""
        if not self.commits.storage_health.is_read_only:
            self._start_jobs()
        self.groups.offsets.on_loaded(self._begin_sessions)

    def begin(self) -> Pending[None]:
        """Resolved when this broker leads its partitions."""
        return resolved(None) if self.leadership is None else self.leadership.begin()

    def hand_over_all(self) -> Pending[StorageFailed | None]:
        """At an orderly stop: other brokers lead its partitions."""
        return resolved(None) if self.leadership is None else self.leadership.hand_over_all()

    def _start_jobs(self) -> None:
        if self.controller is not None:
            self.controller.start()
        self.dropping.start()
        self.trimming.start()
        self.compaction.start()
        self.retention.start()
        self.producer_expiry.start()
        self.groups.offset_cleanup.start()
        self.groups.offset_expiry.start()
        self.transactions.ends.start()
        if self.transactions.requested_markers is not None:
            self.transactions.requested_markers.start()
        self.transactions.expiry.start()
        self.transactions.late.start()
        for topic in self.internal_topics:
            topic.start()

    def _begin_sessions(self) -> None:
        """Sessions start when offsets are loaded: until then heartbeats are refused."""
        if not self.background.is_over:
            self.groups.coordinator.start()

    def stop_upkeep(self) -> None:
        """From now on no background job touches the store."""
        self.background.end()
        self.groups.coordinator.release()

    def snapshot_all(self, done: Callable[[StorageFailed | None], None]) -> None:
        """Persists a snapshot of every changed partition: the next start reads no headers."""
        grown = [
            partition
            for partition in self.catalog.loaded()
            if partition.bytes_since_snapshot and partition.broken is None
        ]
        for partition in grown:
            self.partitions.snapshot(partition)
        if grown:
            self.commits.when_committed(done)
        else:
            self.commits.wait(done)
