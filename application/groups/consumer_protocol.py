"""ConsumerProtocol: groups whose members send heartbeats and nothing else (KIP-848).

A heartbeat that changes nothing is answered at once, unless an earlier change of its group is not
kept yet; one that changes something is answered when that is kept.
"""

from __future__ import annotations

from collections.abc import Callable

from application.configs.groups import GroupConfigs
from application.groups.consumer_keeping import ConsumerKeeping, when_kept
from application.groups.conversion import Conversion
from application.groups.registry import Groups
from application.pending import Pending
from domain.configs.broker import BrokerConfig
from domain.errors import BrokerError, GroupIdNotFound, UnsupportedVersion
from domain.groups.classic.group import ClassicGroup
from domain.groups.consumer.changes import AssignmentChanged
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.heartbeat import HeartbeatResult, answer_if_steady, beat
from domain.groups.consumer.heartbeat_request import Heartbeat, check_heartbeat
from domain.groups.consumer.leave import leave_for_a_while, leaving_member
from domain.groups.consumer.member import JOINS, LEAVES_FOR_A_WHILE
from domain.groups.consumer.target import assignor_of
from domain.groups.consumer.timeouts import Timeout
from domain.groups.group import Changes

#: The answer to a heartbeat, now or when what it changed is kept.
Answer = HeartbeatResult | Pending[HeartbeatResult | BrokerError]


class ConsumerProtocol:
    def __init__(
        self,
        groups: Groups,
        configs: GroupConfigs,
        keeping: ConsumerKeeping,
        conversion: Conversion,
        config: BrokerConfig,
        new_member_id: Callable[[], str],
    ) -> None:
        self._groups = groups
        self._configs = configs
        self._keeping = keeping
        self._conversion = conversion
        self._new_member_id = new_member_id
        self._enabled = "consumer" in config.group_coordinator_rebalance_protocols

    def start(self) -> None:
        self._keeping.start()

    # what members say

    def heartbeat(self, group_id: str, heartbeat: Heartbeat, members_make_ids: bool) -> Answer:
        """Refusals are raised."""
        if not self._enabled:
            raise UnsupportedVersion()
        check_heartbeat(group_id, heartbeat, members_make_ids, self._keeping.rules.assignors)
        if heartbeat.leaves:
            return self._leave(self.find(group_id), heartbeat)
        around = self._keeping.surroundings(group_id)
        group, changes = self._group_of(group_id, heartbeat)
        if not heartbeat.member_id:
            heartbeat = heartbeat._replace(member_id=self._new_member_id())
        answer = answer_if_steady(group, heartbeat, around)
        if answer is None:
            draft = group.draft()
            answer = beat(draft, heartbeat, around)
            changes += draft.changes
        pending = self._keep(group_id, changes, answer)
        self._keeping.looked_at_topics(group_id, around)
        self._heard_from(group_id, answer.member_id, changes)
        return pending

    def _group_of(self, group_id: str, heartbeat: Heartbeat) -> tuple[ConsumerGroup, Changes]:
        """The group of a member that joins or stays, with the changes that make it one."""
        group = self._groups.find(group_id)
        if isinstance(group, ConsumerGroup):
            return group, []
        if heartbeat.epoch != JOINS:
            if group is None:
                raise GroupIdNotFound(f"Consumer group {group_id} not found.")
            return self.find(group_id), []
        if isinstance(group, ClassicGroup):
            return self._conversion.to_consumer(group)
        return ConsumerGroup(group_id), []

    def _leave(self, group: ConsumerGroup, heartbeat: Heartbeat) -> Answer:
        member = leaving_member(group, heartbeat)
        if heartbeat.epoch == LEAVES_FOR_A_WHILE:
            draft = group.draft()
            answer = leave_for_a_while(draft, member)
            group.timeouts.cancel(member.member_id, Timeout.REVOCATION)
            return self._keep(group.group_id, [*draft.changes], answer)
        answer = HeartbeatResult(heartbeat.member_id, heartbeat.epoch)
        changes = self._keeping.without(group, [member.member_id])
        return self._keep(group.group_id, changes, answer)

    def _keep(self, group_id: str, changes: Changes, answer: HeartbeatResult) -> Answer:
        kept = self._keeping.keep(group_id, changes)
        return answer if kept is None else when_kept(kept, answer)

    def _heard_from(self, group_id: str, member_id: str, changes: Changes) -> None:
        group = self.find(group_id)
        member = group.members[member_id]
        self._keeping.begin_session(group, member)
        for change in changes:
            if isinstance(change, AssignmentChanged) and change.member_id == member_id:
                self._keeping.begin_revocation(group, member)

    # what others ask

    def find(self, group_id: str) -> ConsumerGroup:
        group = self._groups.find(group_id)
        if group is None:
            raise GroupIdNotFound(f"Group {group_id} not found.")
        if not isinstance(group, ConsumerGroup):
            raise GroupIdNotFound(f"Group {group_id} is not a consumer group.")
        return group

    def assignor_of(self, group: ConsumerGroup) -> str:
        return assignor_of(group, self._keeping.rules)

    def heartbeat_interval_ms(self, group_id: str) -> int:
        return self._configs.of(group_id).consumer_heartbeat_interval_ms
