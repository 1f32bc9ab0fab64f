"""Consumer groups and their committed offsets."""

from __future__ import annotations

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
from application.ports.offset_repository import OffsetRepository
from infrastructure.patterns import Re2Patterns
from interfaces.main.container.core import Core
from interfaces.main.container.identities import new_short_uuid, new_uuid


class GroupServices:
    def __init__(self, core: Core, offset_repository: OffsetRepository) -> None:
        config, catalog, clock = core.config, core.catalog, core.clock
        events, background = core.events, core.background
        registry = self.registry = Groups(core.groups, core.commits)
        offsets = self.offsets = Offsets(offset_repository, registry, catalog, core.placement)
        self.forgetting = Forgetting(offsets, background)
        configs = self.configs = GroupConfigs(core.configs, config, events)
        self.coordinator = GroupCoordinator(
            registry,
            offsets,
            configs,
            catalog,
            Re2Patterns(),
            clock,
            background,
            config,
            new_uuid,
            new_short_uuid,
        )
        log = self.log = GroupLog(registry, events, clock, background, config, configs)
        self.delete = DeleteGroupsService(offsets, registry, log)
        self.offset_commit = OffsetCommitService(offsets, registry, clock, config)
        self.offset_fetch = OffsetFetchService(offsets, registry)
        self.offset_delete = OffsetDeleteService(offsets, registry)
        self.lag = GroupLagService(registry, offsets, catalog)
        self.offset_expiry = OffsetExpiry(
            offsets, registry, self.delete, clock, background, config, log
        )
