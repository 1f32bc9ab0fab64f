"""Broker: every application service, and who is given what."""

from __future__ import annotations

from application.broker import Broker
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
from application.metadata import MetadataService
from application.offset_for_leader_epoch import OffsetForLeaderEpochService
from application.ports.authorizer import Authorizer
from application.ports.scan_worker import ScanWorkers
from application.produce import ProduceService
from application.records.browse import BrowseService
from application.records.clone import CloneService
from application.records.records import Records
from application.records.send import SendService
from application.records.tail import TailService
from application.topics.create import CreateTopicsService
from application.topics.delete import DeleteTopicsService
from application.topics.dropping import Dropping
from application.topics.partitions import CreatePartitionsService
from application.topics.replicas import ReplicasService
from application.topics.state import TopicState
from application.upkeep.producer_expiry import ProducerExpiry
from application.upkeep.trimming import Trimming
from domain.errors import StorageFailed
from infrastructure.codecs.checksum import crc32c
from infrastructure.codecs.compression import BatchCompression
from infrastructure.storage.volume import StorageVolume
from interfaces.main.container.core import Core
from interfaces.main.container.groups import GroupServices
from interfaces.main.container.identities import new_session_id, new_short_uuid, new_topic_id


def known_cluster_id(core: Core) -> str:
    """The id the store has; a new store is given one, durably, before anybody hears of it."""
    known = core.cluster.cluster_id()
    if known is not None:
        return known
    given = core.config.cluster_id or new_short_uuid()
    core.cluster.name_cluster(given)
    outcome: list[StorageFailed | None] = []
    core.commit.commit(outcome.append)
    if outcome[0] is not None:
        raise outcome[0]
    return given


def make_broker(
    core: Core,
    groups: GroupServices,
    authorizer: Authorizer,
    scan_workers: ScanWorkers | None = None,
) -> Broker:
    """Without `scan_workers`, processes that search logs, logs are searched on the loop."""
    config, scheduler, clock, events = core.config, core.scheduler, core.clock, core.events
    log, topics, partitions = core.log, core.topics, core.partitions
    catalog, commits, watching, trouble = core.catalog, core.commits, core.watching, core.trouble
    background = core.background
    compression = BatchCompression()

    cluster_id = known_cluster_id(core)
    dropping = Dropping(log, topics, partitions, background)
    trimming = Trimming(log, catalog, partitions, commits, background)
    topic_state = TopicState(topics, catalog, commits, watching, dropping)
    create_topics = CreateTopicsService(catalog, topics, topic_state, config, new_topic_id, events)
    produce = ProduceService(log, commits, clock, crc32c, compression, trouble)
    list_offsets = ListOffsetsService(catalog, log, compression, background, trouble)
    browse = BrowseService(catalog, log, compression, clock, background, scan_workers)
    broker_configs = BrokerConfigs(core.configs, config, catalog, events)
    config_state = ConfigState(core.configs, broker_configs, groups.configs, commits)
    return Broker(
        cluster_id=cluster_id,
        config=config,
        authorizer=authorizer,
        placement=core.placement,
        catalog=catalog,
        commits=commits,
        partitions=partitions,
        produce=produce,
        records=Records(
            browse=browse,
            send=SendService(catalog, produce, commits, clock, crc32c),
            tail=TailService(catalog, browse, watching, background),
            clone=CloneService(catalog, create_topics, log, commits, compression, crc32c),
        ),
        fetch=FetchService(catalog, log, watching, scheduler, config, trouble),
        fetch_sessions=FetchSessions(
            clock,
            new_session_id,
            config.max_incremental_fetch_session_cache_slots,
            config.fetch_partitions_max,
        ),
        list_offsets=list_offsets,
        metadata=MetadataService(catalog, create_topics, config),
        create_topics=create_topics,
        delete_topics=DeleteTopicsService(catalog, topic_state, groups.forgetting, config),
        create_partitions=CreatePartitionsService(topics, topic_state, config),
        replicas=ReplicasService(catalog, config),
        delete_records=DeleteRecordsService(catalog, commits, trimming, background),
        log_dirs=LogDirsService(catalog, StorageVolume(core.storage.info.path), background),
        groups=groups.registry,
        group_coordinator=groups.coordinator,
        group_configs=groups.configs,
        delete_groups=groups.delete,
        offsets=groups.offsets,
        offset_commit=groups.offset_commit,
        offset_fetch=groups.offset_fetch,
        offset_delete=groups.offset_delete,
        group_lag=groups.lag,
        reset_offsets=ResetOffsetsService(
            groups.registry, groups.offsets, catalog, list_offsets, groups.offset_commit, background
        ),
        forgetting=groups.forgetting,
        offset_expiry=groups.offset_expiry,
        describe_configs=DescribeConfigsService(catalog, config, broker_configs, groups.configs),
        alter_configs=AlterConfigsService(topic_state, config_state, config, events),
        offset_for_leader_epoch=OffsetForLeaderEpochService(catalog),
        init_producer_id=InitProducerIdService(core.cluster, commits, events),
        dropping=dropping,
        trimming=trimming,
        producer_expiry=ProducerExpiry(catalog, partitions, clock, background, config),
        background=background,
    )
