"""The store, and the repositories that are written once over it."""

from __future__ import annotations

from typing import Any

from infrastructure.observability.timed_commit import TimedCommit
from infrastructure.opening import open_storage
from infrastructure.storage.repositories.cluster_repository import StoredClusterRepository
from infrastructure.storage.repositories.config_repository import StoredConfigRepository
from infrastructure.storage.repositories.group_repository import StoredGroupRepository
from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
from infrastructure.storage.repositories.topic_repository import StoredTopicRepository
from interfaces.main.container.declarative import containers, providers


class StorageContainer(containers.DeclarativeContainer):
    url = providers.Dependency(instance_of=str)
    flush = providers.Dependency(instance_of=str)
    #: None: reads wait for the disk on the loop.
    to_loop: providers.Dependency[Any] = providers.Dependency(default=providers.Object(None))

    store = providers.Singleton(open_storage, url, flush, to_loop=to_loop)
    log = store.provided.log
    state = store.provided.state
    commit = providers.Singleton(TimedCommit, store.provided.commit)
    topics = providers.Singleton(StoredTopicRepository, log, state)
    partitions = providers.Singleton(StoredPartitionRepository, log, state)
    cluster = providers.Singleton(StoredClusterRepository, state)
    groups = providers.Singleton(StoredGroupRepository, state)
    configs = providers.Singleton(StoredConfigRepository, state)
