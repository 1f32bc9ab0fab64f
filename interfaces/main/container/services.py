"""The application services, wired to their ports."""

from __future__ import annotations

import base64
import random
import secrets
import uuid
from typing import Any

from application.broker import Broker
from application.commits import Commits
from application.fetch import FetchService
from application.fetch_sessions import FetchSessions
from application.init_producer_id import InitProducerIdService
from application.list_offsets import ListOffsetsService
from application.metadata import MetadataService
from application.ports.cluster_repository import ClusterRepository
from application.ports.commit import Commit
from application.produce import ProduceService
from application.topics.catalog import Catalog
from application.topics.create import CreateTopicsService
from application.topics.delete import DeleteTopicsService
from application.topics.dropping import Dropping
from application.topics.partitions import CreatePartitionsService
from application.trouble import Trouble
from application.upkeep.producer_expiry import ProducerExpiry
from application.watching import Watching
from domain.errors import StorageFailed
from infrastructure.clock import SystemClock
from infrastructure.codecs.checksum import crc32c
from infrastructure.codecs.compression import BatchCompression
from interfaces.main.container.declarative import containers, providers


def new_topic_id() -> bytes:
    return uuid.uuid4().bytes


def new_cluster_id() -> str:
    """As Kafka makes them: a random UUID in 22 characters."""
    return base64.urlsafe_b64encode(secrets.token_bytes(16)).rstrip(b"=").decode()


def new_session_id() -> int:
    return random.randrange(1, 2**31)


def known_cluster_id(cluster: ClusterRepository, commit: Commit, wanted: str | None) -> str:
    """The id the store has; a new store is given one, durably, before anybody hears of it."""
    known = cluster.cluster_id()
    if known is not None:
        return known
    given = wanted or new_cluster_id()
    cluster.name_cluster(given)
    outcome: list[StorageFailed | None] = []
    commit.commit(outcome.append)
    if outcome[0] is not None:
        raise outcome[0]
    return given


class ServicesContainer(containers.DeclarativeContainer):
    config: providers.Dependency[Any] = providers.Dependency()
    scheduler: providers.Dependency[Any] = providers.Dependency()
    events: providers.Dependency[Any] = providers.Dependency()
    storage = providers.DependenciesContainer()

    clock = providers.Singleton(SystemClock)
    checksum = providers.Object(crc32c)
    compression = providers.Singleton(BatchCompression)

    cluster_id = providers.Singleton(
        known_cluster_id, storage.cluster, storage.commit, config.provided.cluster_id
    )
    watching = providers.Singleton(Watching)
    trouble = providers.Singleton(Trouble, events, clock)
    commits = providers.Singleton(
        Commits, storage.commit, scheduler, storage.partitions, watching, trouble
    )
    catalog = providers.Singleton(Catalog, storage.topics, storage.partitions, config, trouble)
    dropping = providers.Singleton(
        Dropping, storage.log, storage.topics, storage.partitions, commits, scheduler
    )
    create_topics = providers.Singleton(
        CreateTopicsService,
        catalog,
        storage.topics,
        commits,
        config,
        providers.Object(new_topic_id),
    )
    broker = providers.Singleton(
        Broker,
        cluster_id=cluster_id,
        config=config,
        catalog=catalog,
        commits=commits,
        partitions=storage.partitions,
        produce=providers.Singleton(
            ProduceService, storage.log, commits, clock, checksum, compression, trouble
        ),
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
        list_offsets=providers.Singleton(
            ListOffsetsService, catalog, storage.log, compression, scheduler, trouble
        ),
        metadata=providers.Singleton(MetadataService, catalog, create_topics, config),
        create_topics=create_topics,
        delete_topics=providers.Singleton(
            DeleteTopicsService, catalog, storage.topics, commits, watching, dropping, config
        ),
        create_partitions=providers.Singleton(
            CreatePartitionsService, catalog, storage.topics, commits, config
        ),
        init_producer_id=providers.Singleton(InitProducerIdService, storage.cluster, commits),
        dropping=dropping,
        producer_expiry=providers.Singleton(
            ProducerExpiry, catalog, storage.partitions, commits, clock, scheduler, config
        ),
    )
