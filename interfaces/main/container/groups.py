"""Consumer groups and their committed offsets."""

from __future__ import annotations

from application.broker import GroupServices
from application.groups.configs import GroupConfigs
from application.groups.coordinator import GroupCoordinator
from application.groups.delete import DeleteGroupsService
from application.groups.expiry import OffsetExpiry
from application.groups.group_log import GroupLog
from application.groups.lag import GroupLagService
from application.groups.moves import GroupMoves
from application.groups.offset_cleanup import OffsetCleanup
from application.groups.offset_commit import OffsetCommitService
from application.groups.offset_delete import OffsetDeleteService
from application.groups.offset_fetch import OffsetFetchService
from application.groups.offsets import Offsets
from application.groups.offsets_topic import GroupsInTopic, OffsetsInTopic, OffsetsTopic
from application.groups.pending_offsets import PendingOffsets
from application.groups.registry import Groups
from application.groups.reset import ResetOffsetsService
from application.groups.transactional_offsets import TransactionalOffsets
from application.partitions.list_offsets import ListOffsetsService
from application.ports.group_repository import GroupRepository
from application.ports.offset_repository import OffsetRepository
from application.state.coordinators import Coordinators
from domain.topics.topic import OFFSETS_TOPIC
from infrastructure.patterns import compile_pattern
from interfaces.main.container.core import Core
from interfaces.main.container.identities import new_short_uuid, new_uuid


def make_groups(
    core: Core,
    offset_repository: OffsetRepository,
    list_offsets: ListOffsetsService,
    offsets_topic: OffsetsTopic | None,
) -> GroupServices:
    group_repository: GroupRepository = core.groups
    if offsets_topic is not None:
        offset_repository = OffsetsInTopic(offset_repository, offsets_topic)
        group_repository = GroupsInTopic(group_repository, offsets_topic)
    config, catalog, clock = core.config, core.catalog, core.clock
    events, background = core.events, core.background
    coordinators = Coordinators(OFFSETS_TOPIC, catalog, core.placement, core.min_insync_replicas)
    registry = Groups(group_repository, core.commits, coordinators)
    pending = PendingOffsets(
        core.pending_offsets, catalog, core.commits.when_committed, coordinators
    )
    offsets = Offsets(offset_repository, registry, catalog, coordinators, pending)
    configs = GroupConfigs(core.configs, config, events)
    delete_groups = DeleteGroupsService(offsets, registry, events)
    offset_commit = OffsetCommitService(offsets, registry, clock, config)
    coordinator = GroupCoordinator(
        registry,
        offsets,
        configs,
        catalog,
        compile_pattern,
        clock,
        background,
        config,
        GroupLog(events),
        new_uuid,
        new_short_uuid,
    )
    offset_cleanup = OffsetCleanup(offsets, background)
    moves = GroupMoves(registry, offsets, coordinator, offset_cleanup)
    coordinators.on_moved(moves.lost, moves.gained)
    return GroupServices(
        registry=registry,
        coordinators=coordinators,
        coordinator=coordinator,
        configs=configs,
        offsets=offsets,
        offset_commit=offset_commit,
        transactional_offsets=TransactionalOffsets(offsets, registry),
        offset_fetch=OffsetFetchService(offsets, registry),
        offset_delete=OffsetDeleteService(offsets, registry),
        reset_offsets=ResetOffsetsService(registry, offsets, catalog, list_offsets, offset_commit),
        lag=GroupLagService(registry, offsets, catalog),
        delete_groups=delete_groups,
        offset_cleanup=offset_cleanup,
        offset_expiry=OffsetExpiry(
            offsets, registry, delete_groups, clock, background, config, events
        ),
    )
