"""Makes the application services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from application.broker import (
    Broker,
    ConfigServices,
    MessageServices,
    TopicServices,
)
from application.cluster.service import ClusterService
from application.configs.alter import AlterConfigsService
from application.configs.brokers import BrokerConfigs
from application.configs.describe import DescribeConfigsService
from application.configs.state import ConfigState
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
from application.partitions.read_replicas import ReadReplicas
from application.partitions.retention import RetentionService
from application.partitions.trimming import Trimming
from application.ports.authorizer import Authorizer
from application.ports.offset_repository import OffsetRepository
from application.records.browse import BrowseService
from application.records.clone import CloneService
from application.records.scan_worker import ScanWorkers
from application.records.send import SendService
from application.records.send_in_transaction import SendInTransaction
from application.records.tail import TailService
from application.reset import ResetService
from application.security.client_quotas import ClientQuotas
from application.security.connection_rates import ConnectionRates
from application.security.quotas import QuotaService
from application.state.features import Features
from application.topics.create import CreateTopicsService
from application.topics.delete import DeleteTopicsService
from application.topics.dropping import Dropping
from application.topics.metadata import MetadataService
from application.topics.partitions import CreatePartitionsService
from application.topics.replicas import ReplicasService
from application.topics.state import TopicState
from infrastructure.codecs.checksum import crc32c
from infrastructure.codecs.compression import BatchCompression
from infrastructure.storage.volume import StorageVolume
from interfaces.main.container.access import make_access
from interfaces.main.container.cluster import make_cluster
from interfaces.main.container.core import Core
from interfaces.main.container.groups import make_groups
from interfaces.main.container.identities import (
    new_decoy_secret,
    new_session_id,
    new_short_uuid,
    new_topic_id,
)
from interfaces.main.container.internal_topics import InternalTopics
from interfaces.main.container.security import ToLoop, make_security
from interfaces.main.container.transactions import make_transactions

if TYPE_CHECKING:
    from application.partitions.cleaning import CleaningWorkers
    from application.partitions.log_cleaner import LogCleaner


def identity_of(core: Core) -> tuple[str, bytes]:
    """The cluster id of the store, and its secret for unknown users; a new store is given both in
    one commit, before anybody hears of them."""
    cluster_id, secret = core.cluster.cluster_id(), core.users.decoy_secret()
    if cluster_id is not None and secret is not None:
        return cluster_id, secret
    if cluster_id is None:
        cluster_id = core.config.cluster_id or new_short_uuid()
        core.cluster.name_cluster(cluster_id)
    if secret is None:
        secret = new_decoy_secret()
        core.users.save_decoy_secret(secret)
    core.commit_at_once()
    return cluster_id, secret


def make_broker(
    core: Core,
    offset_repository: OffsetRepository,
    authorizer: Authorizer,
    scan_workers: ScanWorkers | None = None,
    cleaning_workers: CleaningWorkers | None = None,
    to_loop: ToLoop | None = None,
) -> Broker:
    """Without worker processes logs are searched and compacted on the loop; without `to_loop`
    passwords are salted there, too.
    """
    config, scheduler, clock, events = core.config, core.scheduler, core.clock, core.events
    log, topics, partitions = core.log, core.topics, core.partitions
    catalog, commits, purgatory, storage_health = (
        core.catalog,
        core.commits,
        core.purgatory,
        core.storage_health,
    )
    background, changes = core.background, core.cluster_changes
    compression = BatchCompression()

    def make_cleaner() -> LogCleaner:
        from application.partitions.log_cleaner import LogCleaner

        return LogCleaner(
            log,
            catalog,
            partitions,
            core.transaction_index,
            commits,
            clock,
            background,
            config,
            compression,
            crc32c,
            cleaning_workers,
        )

    cluster_id, decoy_secret = identity_of(core)
    authorizer, acls = make_access(core, authorizer)
    security = make_security(core, decoy_secret, to_loop, acls)
    cluster = make_cluster(core)
    dropping = Dropping(
        log,
        topics,
        partitions,
        core.transaction_index,
        core.stream_index,
        core.placement,
        changes,
        background,
        core.registrations,
    )
    trimming = Trimming(
        log,
        catalog,
        partitions,
        core.transaction_index,
        core.stream_index,
        commits,
        background,
        core.placement,
    )
    init_producer_id = InitProducerIdService(core.cluster, commits, changes)
    features = Features(core.cluster, commits, changes, core.membership is not None)
    transaction_markers = TransactionMarkers(
        log, core.transaction_index, commits, clock, crc32c, core.min_insync_replicas
    )
    produce = ProduceService(
        log,
        commits,
        clock,
        crc32c,
        compression,
        storage_health,
        core.min_insync_replicas,
        catalog,
    )
    list_offsets = ListOffsetsService(catalog, log, compression, background, storage_health)
    internal_topics = InternalTopics(core, features)
    groups = make_groups(core, offset_repository, list_offsets, internal_topics.offsets)
    topic_state = TopicState(topics, catalog, commits, dropping, groups.offset_cleanup, changes)
    create_topics = CreateTopicsService(
        catalog, topics, topic_state, cluster.assignment, config, new_topic_id, events
    )
    transactions = make_transactions(
        core,
        transaction_markers,
        groups.transactional_offsets,
        init_producer_id,
        features,
        internal_topics.transactions,
    )
    browse = BrowseService(
        catalog, log, core.transaction_index, compression, clock, background, scan_workers
    )
    send = SendService(catalog, produce, background, clock, crc32c)
    broker_configs = BrokerConfigs(core.configs, config, catalog, events)
    config_state = ConfigState(core.configs, broker_configs, groups.configs, commits)
    quotas = ClientQuotas(clock, config)
    quota_service = QuotaService(core.quotas, quotas, commits, changes, events)
    read_replicas = None
    if config.replica_selector_class and core.storage.sealed_log is not None:
        read_replicas = ReadReplicas(core.placement, core.storage.sealed_log, clock, catalog)
    streams = None
    if config.raw_listeners:
        from interfaces.main.container.streams import make_streams

        streams = make_streams(core, produce, create_topics, compression)
    delete_topics = DeleteTopicsService(catalog, topic_state, config, events)
    return Broker(
        cluster_id=cluster_id,
        config=config,
        authorizer=authorizer,
        quotas=quotas,
        quota_service=quota_service,
        connection_rates=ConnectionRates(quotas, config, clock),
        placement=core.placement,
        cluster=ClusterService(
            core.placement, clock, commits, core.cluster_changes, core.membership
        ),
        leadership=cluster.leadership,
        controller=cluster.controller,
        features=features,
        catalog=catalog,
        commits=commits,
        partitions=partitions,
        messages=MessageServices(
            produce=produce,
            fetch=FetchService(
                catalog,
                log,
                core.transaction_index,
                purgatory,
                scheduler,
                config,
                storage_health,
                clock,
                read_replicas,
            ),
            fetch_sessions=FetchSessions(
                clock,
                new_session_id,
                config.max_incremental_fetch_session_cache_slots,
                config.fetch_partitions_max,
            ),
            list_offsets=list_offsets,
            offset_for_leader_epoch=OffsetForLeaderEpochService(catalog),
            delete_records=DeleteRecordsService(catalog, commits, trimming, background, events),
            init_producer_id=init_producer_id,
            transaction_markers=transaction_markers,
            describe_producers=DescribeProducersService(catalog, partitions, background),
            browse=browse,
            send=send,
            send_in_transaction=SendInTransaction(
                catalog,
                send,
                produce,
                transactions.coordinator,
                transactions.take_over,
                background,
                clock,
                crc32c,
            ),
            tail=TailService(catalog, browse, purgatory, background),
            clone=CloneService(
                catalog,
                core.placement,
                create_topics,
                delete_topics,
                log,
                core.transaction_index,
                commits,
                compression,
                crc32c,
                background,
            ),
        ),
        topics=TopicServices(
            metadata=MetadataService(catalog, create_topics, config),
            create_topics=create_topics,
            delete_topics=delete_topics,
            create_partitions=CreatePartitionsService(
                topics, topic_state, cluster.assignment, events
            ),
            replicas=ReplicasService(catalog, cluster.assignment, cluster.moves),
            log_dirs=LogDirsService(catalog, StorageVolume(core.storage.info), background),
        ),
        groups=groups,
        transactions=transactions,
        configs=ConfigServices(
            describe_configs=DescribeConfigsService(
                catalog, config, core.placement, broker_configs, groups.configs
            ),
            alter_configs=AlterConfigsService(topic_state, config_state, config, events),
            of_broker=broker_configs,
        ),
        security=security,
        reset=ResetService(
            catalog,
            delete_topics,
            groups.registry,
            groups.offsets,
            groups.coordinator,
            groups.delete_groups,
            transactions.registry,
            config_state,
            quota_service,
            security.users,
            acls,
            changes,
            config,
        ),
        dropping=dropping,
        trimming=trimming,
        retention=RetentionService(
            log, catalog, commits, trimming, clock, background, config, events
        ),
        compaction=CompactionService(log, catalog, clock, background, config, events, make_cleaner),
        producer_expiry=ProducerExpiry(
            catalog, partitions, clock, background, config, core.placement
        ),
        internal_topics=internal_topics.setups(groups, transactions, create_topics, delete_topics),
        streams=streams,
        background=background,
    )
