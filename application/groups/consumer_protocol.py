"""ConsumerProtocol: groups whose members send only ConsumerGroupHeartbeat (KIP-848).

A heartbeat that changes nothing gets its response at once, unless an earlier change of its group is
not durable yet.
"""

from __future__ import annotations

from collections.abc import Callable

from application.background.runner import Runner
from application.groups.configs import GroupConfigs
from application.groups.deadlines import Deadlines
from application.groups.decisions import Decisions
from application.groups.regexes import GroupRegexes, Regexes
from application.groups.registry import Groups
from application.ports.clock import Clock
from application.ports.patterns import CompilePattern
from application.ports.pending import Pending
from application.state.catalog import Catalog
from domain.configs.broker import BrokerConfig
from domain.errors import BrokerError, GroupIdNotFound, UnsupportedVersion
from domain.groups.classic.group import ClassicGroup
from domain.groups.consumer.changes import AssignmentChanged
from domain.groups.consumer.conversion import remove_members, upgrade
from domain.groups.consumer.draft import Draft
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.heartbeat import (
    GroupContext,
    HeartbeatResult,
    beat,
    respond_if_unchanged,
    topics_changed,
    update_epoch,
)
from domain.groups.consumer.heartbeat_request import Heartbeat, check_heartbeat
from domain.groups.consumer.leave import leave_static, leaving_member
from domain.groups.consumer.member import (
    JOINS,
    LEAVES_STATIC,
    MemberState,
    MemberSubscription,
)
from domain.groups.consumer.target import GroupRules
from domain.groups.consumer.timeouts import Timeout
from domain.groups.group import Decision, Group

#: At once, or when the changes are durable.
HeartbeatResponse = HeartbeatResult | Pending[HeartbeatResult | BrokerError]


class ConsumerProtocol:
    def __init__(
        self,
        groups: Groups,
        decisions: Decisions,
        deadlines: Deadlines,
        configs: GroupConfigs,
        catalog: Catalog,
        compile_pattern: CompilePattern,
        clock: Clock,
        background: Runner,
        config: BrokerConfig,
        new_member_id: Callable[[], str],
    ) -> None:
        self._groups = groups
        self._decisions = decisions
        self._deadlines = deadlines
        self._configs = configs
        self._catalog = catalog
        self._regexes = Regexes(
            groups, catalog, compile_pattern, background, self._regexes_resolved
        )
        self._clock = clock
        self._new_member_id = new_member_id
        self._enabled = "consumer" in config.group_coordinator_rebalance_protocols
        policy = config.group_consumer_migration_policy
        self.rules = GroupRules(
            config.group_consumer_max_size,
            config.group_consumer_assignors,
            policy in ("bidirectional", "upgrade"),
            policy in ("bidirectional", "downgrade"),
            config.group_max_size,
        )

    # ---- requests

    def heartbeat(
        self, group_id: str, heartbeat: Heartbeat, members_make_ids: bool
    ) -> HeartbeatResponse:
        """Refusals are raised."""
        if not self._enabled:
            raise UnsupportedVersion()
        check_heartbeat(group_id, heartbeat, members_make_ids, self.rules.assignors)
        found = self._groups.find(group_id)
        if heartbeat.leaves:
            return self._leave(ConsumerGroup.existing(found, group_id), heartbeat)
        context = self.context(group_id)
        if heartbeat.epoch == JOINS:
            if not heartbeat.member_id:
                heartbeat = heartbeat._replace(member_id=self._new_member_id())
            draft = self._joining(group_id, found)
        else:
            group = self._existing(group_id, found)
            steady = respond_if_unchanged(group, heartbeat, context)
            if steady is not None:
                self.begin_session(group, group.members[steady.member_id])
                if group_id not in self._groups.runtime:
                    return steady
                return self._decisions.response(group_id, steady)
            draft = Draft(group)
        return self._apply_heartbeat(group_id, beat(draft, heartbeat, context), context)

    def _joining(self, group_id: str, group: Group | None) -> Draft:
        if isinstance(group, ClassicGroup):
            return upgrade(group, self._catalog, self.rules)
        return Draft(ConsumerGroup.of(group) or ConsumerGroup(group_id))

    def _existing(self, group_id: str, group: Group | None) -> ConsumerGroup:
        if group is None:
            raise GroupIdNotFound(f"Consumer group {group_id} not found.")
        return ConsumerGroup.existing(group, group_id)

    def _apply_heartbeat(
        self, group_id: str, decision: Decision, context: GroupContext
    ) -> HeartbeatResponse:
        self.apply(group_id, decision, context)
        group = ConsumerGroup.existing(self._groups.find(group_id), group_id)
        member = group.members[decision.response.member_id]
        self.begin_session(group, member)
        for change in decision.changes:
            if isinstance(change, AssignmentChanged) and change.member_id == member.member_id:
                self._begin_revocation(group, member)
        return self._decisions.response(group_id, decision.response)

    def _leave(self, group: ConsumerGroup, heartbeat: Heartbeat) -> HeartbeatResponse:
        member = leaving_member(group, heartbeat)
        if heartbeat.epoch == LEAVES_STATIC:
            decision = leave_static(group, member)
            group.timeouts.cancel(member.member_id, Timeout.REVOCATION)
        else:
            response = HeartbeatResult(heartbeat.member_id, heartbeat.epoch)
            decision = self._without(group, [member.member_id])._replace(response=response)
        self._decisions.apply(group.group_id, decision.changes)
        return self._decisions.response(group.group_id, decision.response)

    def _without(self, group: ConsumerGroup, member_ids: list[str]) -> Decision:
        now = self._decisions.now()
        return remove_members(group, member_ids, self._catalog, self.rules, now)

    # ---- topics

    def context(self, group_id: str) -> GroupContext:
        return GroupContext(self._catalog, GroupRegexes(self._regexes, group_id, {}), self.rules)

    def apply(self, group_id: str, decision: Decision, context: GroupContext) -> None:
        """The decision has seen the current topics."""
        self._decisions.apply(group_id, decision.changes)
        group = ConsumerGroup.of(self._groups.find(group_id))
        if group is not None and topics_changed(group, context) and context.regexes.is_complete:
            group.topics_seen(context.topics.layout_revision)

    def _regexes_resolved(self, group: ConsumerGroup, regexes: GroupRegexes) -> None:
        """Members get the topics in their next heartbeat responses."""
        context = GroupContext(self._catalog, regexes, self.rules)
        draft = Draft(group)
        update_epoch(draft, False, context)
        self.apply(group.group_id, draft.decision(), context)

    # ---- time

    def begin_session(self, group: ConsumerGroup, member: MemberSubscription) -> None:
        if member.classic is not None:
            timeout_ms = member.classic.session_timeout_ms
        else:
            timeout_ms = self._configs.of(group.group_id).consumer_session_timeout_ms
        self.set_timeout(group, member.member_id, Timeout.SESSION, timeout_ms)

    def _begin_revocation(self, group: ConsumerGroup, member: MemberSubscription) -> None:
        """Starts the timeout for partitions that the member must revoke, if any."""
        state = group.current(member.member_id).state
        if state is MemberState.UNREVOKED_PARTITIONS and member.classic is None:
            self.set_timeout(
                group, member.member_id, Timeout.REVOCATION, member.rebalance_timeout_ms
            )
        else:
            group.timeouts.cancel(member.member_id, Timeout.REVOCATION)

    def set_timeout(
        self,
        group: ConsumerGroup,
        member_id: str,
        timeout: Timeout,
        after_ms: int,
        if_absent: bool = False,
    ) -> None:
        deadline_ms = self._clock.monotonic_ms() + after_ms
        if if_absent:
            group.timeouts.set_if_absent(member_id, timeout, deadline_ms)
        else:
            group.timeouts.set(member_id, timeout, deadline_ms)
        self._deadlines.watch(group.group_id, deadline_ms)

    def restored(self, group: ConsumerGroup) -> None:
        for member in group.members.values():
            self.begin_session(group, member)
            self._begin_revocation(group, member)

    def due(self, group: ConsumerGroup) -> int | None:
        expired = group.timeouts.expired(self._clock.monotonic_ms())
        if expired:
            self._decisions.apply(group.group_id, self._without(group, expired).changes)
        return group.timeouts.next_ms() if self._groups.find(group.group_id) is group else None
