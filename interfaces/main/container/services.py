"""The application services, wired to their ports."""

from __future__ import annotations

from typing import Any

from application.broker import Broker
from application.commits import Commits
from application.configs.alter import AlterConfigsService
from application.configs.brokers import BrokerConfigs
from application.configs.describe import DescribeConfigsService
from application.configs.state import ConfigState
from application.delete_records import DeleteRecordsService
from application.fetch import FetchService
from application.fetch_sessions import FetchSessions
from application.groups.reset import ResetOffsetsService
from application.init_producer_id import InitProducerIdService
from application.list_offsets import ListOffsetsService
from application.log_dirs import LogDirsService
from application.long_work import LongWork
from application.metadata import MetadataService
from application.offset_for_leader_epoch import OffsetForLeaderEpochService
from application.ports.cluster_repository import ClusterRepository
from application.ports.commit import Commit
from application.produce import ProduceService
from application.topics.catalog import Catalog
from application.topics.create import CreateTopicsService
from application.topics.delete import DeleteTopicsService
from application.topics.dropping import Dropping
from application.topics.partitions import CreatePartitionsService
from application.topics.replicas import ReplicasService
from application.topics.state import TopicState
from application.trouble import Trouble
from application.upkeep.producer_expiry import ProducerExpiry
from application.upkeep.spare_time import SpareTime
from application.upkeep.trimming import Trimming
from application.watching import Watching
from domain.errors import StorageFailed
from infrastructure.clock import SystemClock
from infrastructure.codecs.checksum import crc32c
from infrastructure.codecs.compression import BatchCompression
from infrastructure.security.authorizer import OpenAuthorizer
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.volume import StorageVolume
from interfaces.main.container.declarative import containers, providers
from interfaces.main.container.groups import GroupsContainer
from interfaces.main.container.identities import new_session_id, new_short_uuid, new_topic_id
from interfaces.main.container.records import RecordsContainer


def known_cluster_id(cluster: ClusterRepository, commit: Commit, wanted: str | None) -> str:
    """The id the store has; a new store is given one, durably, before anybody hears of it."""
    known = cluster.cluster_id()
    if known is not None:
        return known
    given = wanted or new_short_uuid()
    cluster.name_cluster(given)
    outcome: list[StorageFailed | None] = []
    commit.commit(outcome.append)
    if outcome[0] is not None:
        raise outcome[0]
    return given


def raise_unusable(failure: StorageUnusable) -> None:
    raise failure


class ServicesContainer(containers.DeclarativeContainer):
    config: providers.Dependency[Any] = providers.Dependency()
    #: Processes that look through logs; None: it is done on the loop.
    scan_workers: providers.Dependency[Any] = providers.Dependency(default=providers.Object(None))
    scheduler: providers.Dependency[Any] = providers.Dependency()
    events: providers.Dependency[Any] = providers.Dependency()
    storage = providers.DependenciesContainer()
    #: None: committed offsets are where the messages are.
    offsets_url: providers.Dependency[Any] = providers.Dependency(default=providers.Object(None))
    #: Hears that they cannot be kept there.
    offsets_unusable: providers.Dependency[Any] = providers.Dependency(
        default=providers.Object(raise_unusable)
    )

    clock = providers.Singleton(SystemClock)
    checksum = providers.Object(crc32c)
    compression = providers.Singleton(BatchCompression)
    authorizer = providers.Singleton(OpenAuthorizer)

    cluster_id = providers.Singleton(
        known_cluster_id, storage.cluster, storage.commit, config.provided.cluster_id
    )
    spare_time = providers.Singleton(SpareTime, scheduler)
    long_work = providers.Singleton(LongWork, spare_time)
    volume = providers.Singleton(StorageVolume, storage.store.provided.info.path)
    watching = providers.Singleton(Watching)
    trouble = providers.Singleton(Trouble, events, clock)
    commits = providers.Singleton(
        Commits, storage.commit, scheduler, storage.partitions, watching, trouble
    )
    catalog = providers.Singleton(Catalog, storage.topics, storage.partitions, config, trouble)
    dropping = providers.Singleton(
        Dropping, storage.log, storage.topics, storage.partitions, commits, spare_time
    )
    trimming = providers.Singleton(
        Trimming, storage.log, catalog, storage.partitions, commits, spare_time
    )
    topic_state = providers.Singleton(
        TopicState, storage.topics, catalog, commits, watching, dropping
    )
    create_topics = providers.Singleton(
        CreateTopicsService,
        catalog,
        storage.topics,
        topic_state,
        config,
        providers.Object(new_topic_id),
        events,
    )
    groups = providers.Container(
        GroupsContainer,
        config=config,
        events=events,
        storage=storage,
        offsets_url=offsets_url,
        offsets_unusable=offsets_unusable,
        from_thread=scheduler.provided.from_thread,
        clock=clock,
        commits=commits,
        catalog=catalog,
        spare_time=spare_time,
    )
    produce = providers.Singleton(
        ProduceService, storage.log, commits, clock, checksum, compression, trouble
    )
    records = providers.Container(
        RecordsContainer,
        storage=storage,
        catalog=catalog,
        commits=commits,
        watching=watching,
        create_topics=create_topics,
        produce=produce,
        clock=clock,
        checksum=checksum,
        compression=compression,
        spare_time=spare_time,
        scan_workers=scan_workers,
    )
    broker_configs = providers.Singleton(BrokerConfigs, storage.configs, config, catalog, events)
    list_offsets = providers.Singleton(
        ListOffsetsService, catalog, storage.log, compression, long_work, trouble
    )
    broker = providers.Singleton(
        Broker,
        cluster_id=cluster_id,
        config=config,
        authorizer=authorizer,
        catalog=catalog,
        commits=commits,
        partitions=storage.partitions,
        produce=produce,
        records=records.records,
        fetch=providers.Singleton(
            FetchService, catalog, storage.log, watching, scheduler, config, trouble
        ),
        fetch_sessions=providers.Singleton(
            FetchSessions,
            clock,
            providers.Object(new_session_id),
            config.provided.max_incremental_fetch_session_cache_slots,
            config.provided.fetch_partitions_max,
        ),
        list_offsets=list_offsets,
        metadata=providers.Singleton(MetadataService, catalog, create_topics, config),
        create_topics=create_topics,
        delete_topics=providers.Singleton(
            DeleteTopicsService, catalog, topic_state, groups.forgetting, config
        ),
        create_partitions=providers.Singleton(
            CreatePartitionsService, storage.topics, topic_state, config
        ),
        replicas=providers.Singleton(ReplicasService, catalog, config),
        delete_records=providers.Singleton(
            DeleteRecordsService, catalog, commits, trimming, long_work
        ),
        log_dirs=providers.Singleton(LogDirsService, catalog, volume, long_work),
        groups=groups.registry,
        group_coordinator=groups.coordinator,
        group_configs=groups.configs,
        delete_groups=groups.delete_groups,
        offsets=groups.offsets,
        offset_commit=groups.offset_commit,
        offset_fetch=groups.offset_fetch,
        offset_delete=groups.offset_delete,
        group_lag=groups.lag,
        reset_offsets=providers.Singleton(
            ResetOffsetsService,
            groups.registry,
            groups.offsets,
            catalog,
            list_offsets,
            groups.offset_commit,
            long_work,
        ),
        forgetting=groups.forgetting,
        offset_expiry=groups.offset_expiry,
        describe_configs=providers.Singleton(
            DescribeConfigsService, catalog, config, broker_configs, groups.configs
        ),
        alter_configs=providers.Singleton(
            AlterConfigsService,
            topic_state,
            providers.Singleton(
                ConfigState, storage.configs, broker_configs, groups.configs, commits
            ),
            config,
            events,
        ),
        offset_for_leader_epoch=providers.Singleton(OffsetForLeaderEpochService, catalog),
        init_producer_id=providers.Singleton(
            InitProducerIdService, storage.cluster, commits, events
        ),
        dropping=dropping,
        trimming=trimming,
        producer_expiry=providers.Singleton(
            ProducerExpiry, catalog, storage.partitions, commits, clock, spare_time, config
        ),
        spare_time=spare_time,
        long_work=long_work,
    )
