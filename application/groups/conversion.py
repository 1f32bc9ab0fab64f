"""Conversion: which groups become groups of the other kind, and who is told of it."""

from __future__ import annotations

from collections.abc import Sequence

from application.groups.classic_protocol import ClassicProtocol
from application.ports.clock import Clock
from application.topics.catalog import Catalog
from domain.configs.broker import BrokerConfig
from domain.errors import RebalanceInProgress
from domain.groups.classic.changes import RebalanceStarted
from domain.groups.classic.group import ClassicGroup
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.conversion import can_downgrade, check_upgrade, downgraded, upgraded
from domain.groups.group import Changes, GroupDeleted


class Conversion:
    def __init__(
        self, classic_groups: ClassicProtocol, catalog: Catalog, clock: Clock, config: BrokerConfig
    ) -> None:
        self._classic_groups = classic_groups
        self._catalog = catalog
        self._clock = clock
        self._config = config
        policy = config.group_consumer_migration_policy
        self._upgrades = policy in ("bidirectional", "upgrade")
        self._downgrades = policy in ("bidirectional", "downgrade")

    def to_consumer(self, group: ClassicGroup) -> tuple[ConsumerGroup, Changes]:
        """What it is as a consumer group, with the changes that make it one; GroupIdNotFound."""
        changes: Changes = [*group.deletion(), GroupDeleted(group.group_id)]
        if group.is_empty:
            return ConsumerGroup(group.group_id), changes
        check_upgrade(group, self._upgrades, self._config.group_consumer_max_size)
        draft = upgraded(group, self._catalog)
        return draft, [*changes, *draft.changes]

    def is_consumer_now(self, group_id: str) -> None:
        """Whoever waits for the others of a rebalance is to begin anew."""
        self._classic_groups.give_up(group_id, RebalanceInProgress())

    def goes_classic_without(self, group: ConsumerGroup, member_ids: Sequence[str]) -> bool:
        return self._downgrades and can_downgrade(group, member_ids, self._config.group_max_size)

    def to_classic(
        self,
        group: ConsumerGroup,
        becoming: ConsumerGroup,
        leaving: Sequence[str],
        rebalances: bool,
    ) -> Changes:
        """`becoming`: with the members that it is to have."""
        group_id = group.group_id
        kept = downgraded(becoming, leaving, group.epoch, self._catalog, self._clock.now_ms())
        changes: Changes = [*group.deletion(), GroupDeleted(group_id), kept]
        if rebalances and kept.image is not None:
            longest_ms = max(one.rebalance_timeout_ms for one in kept.image.members)
            deadline_ms = self._clock.monotonic_ms() + longest_ms
            changes.append(RebalanceStarted(group_id, deadline_ms))
        return changes

    def is_classic_now(self, group_id: str) -> None:
        self._classic_groups.take_over(group_id)
