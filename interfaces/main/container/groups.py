"""Consumer groups and their committed offsets, wired to their ports."""

from __future__ import annotations

from typing import Any

from application.configs.groups import GroupConfigs
from application.groups.coordinator import GroupCoordinator
from application.groups.delete import DeleteGroupsService
from application.groups.expiry import OffsetExpiry
from application.groups.forgetting import Forgetting
from application.groups.group_log import GroupLog
from application.groups.lag import GroupLagService
from application.groups.offset_delete import OffsetDeleteService
from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.offset_commit import OffsetCommitService
from application.offset_fetch import OffsetFetchService
from infrastructure.opening import open_offsets
from infrastructure.patterns import Re2Patterns
from interfaces.main.container.declarative import containers, providers
from interfaces.main.container.identities import new_short_uuid, new_uuid


class GroupsContainer(containers.DeclarativeContainer):
    config: providers.Dependency[Any] = providers.Dependency()
    events: providers.Dependency[Any] = providers.Dependency()
    storage = providers.DependenciesContainer()
    offsets_url: providers.Dependency[Any] = providers.Dependency()
    offsets_unusable: providers.Dependency[Any] = providers.Dependency()
    from_thread: providers.Dependency[Any] = providers.Dependency()
    clock: providers.Dependency[Any] = providers.Dependency()
    commits: providers.Dependency[Any] = providers.Dependency()
    catalog: providers.Dependency[Any] = providers.Dependency()
    spare_time: providers.Dependency[Any] = providers.Dependency()

    registry = providers.Singleton(Groups, storage.groups, commits)
    configs = providers.Singleton(GroupConfigs, storage.configs, config, events)
    log = providers.Singleton(GroupLog, registry, events, clock, spare_time, config, configs)
    offset_repository = providers.Singleton(
        open_offsets,
        offsets_url,
        storage.store,
        commits.provided.when_committed,
        storage.flush,
        from_thread,
        offsets_unusable,
        events,
    )
    offsets = providers.Singleton(Offsets, offset_repository, registry, catalog)
    forgetting = providers.Singleton(Forgetting, offsets, spare_time)
    delete_groups = providers.Singleton(DeleteGroupsService, offsets, registry, log)
    coordinator = providers.Singleton(
        GroupCoordinator,
        registry,
        offsets,
        configs,
        catalog,
        providers.Singleton(Re2Patterns),
        clock,
        spare_time,
        config,
        providers.Object(new_uuid),
        providers.Object(new_short_uuid),
    )
    offset_commit = providers.Singleton(OffsetCommitService, offsets, registry, clock, config)
    offset_fetch = providers.Singleton(OffsetFetchService, offsets, registry)
    offset_delete = providers.Singleton(OffsetDeleteService, offsets, registry)
    lag = providers.Singleton(GroupLagService, registry, offsets, catalog)
    offset_expiry = providers.Singleton(
        OffsetExpiry, offsets, registry, delete_groups, clock, spare_time, config, log
    )
