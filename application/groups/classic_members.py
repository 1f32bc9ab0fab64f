"""ClassicMembers: what members of the classic protocol ask of a consumer group.

They are there while a group is upgraded or downgraded a member at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from application.groups.classic_protocol import ClassicProtocol, Heard, Joined, Left, Synced
from application.groups.consumer_keeping import ConsumerKeeping, when_kept
from application.groups.conversion import Conversion
from application.pending import Pending, resolved
from application.topics.catalog import Catalog
from domain.errors import BrokerError, MemberIdRequired, RebalanceInProgress
from domain.groups.classic.changes import JoinResponse, SyncResponse
from domain.groups.classic.join import check_first
from domain.groups.classic.leave import Leaving
from domain.groups.classic.member import JoinRequest
from domain.groups.classic.sync import SyncRequest
from domain.groups.consumer.classic_members import (
    assign,
    check_join,
    check_sync,
    classic_member,
    join,
    join_answer,
    leaving_classic_member,
    must_join_again,
)
from domain.groups.consumer.group import ConsumerGroup, Draft
from domain.groups.consumer.heartbeat import Surroundings
from domain.groups.consumer.member import MemberSubscription
from domain.groups.consumer.timeouts import Timeout
from domain.groups.conversion import embedded_assignment
from domain.groups.embedded_protocol import EmbeddedSubscription
from domain.groups.group import Changes, Group, GroupDeleted

T = TypeVar("T")


class ClassicMembers:
    def __init__(
        self,
        classic_groups: ClassicProtocol,
        keeping: ConsumerKeeping,
        conversion: Conversion,
        catalog: Catalog,
        new_member_id: Callable[[], str],
    ) -> None:
        self._classic_groups = classic_groups
        self._keeping = keeping
        self._conversion = conversion
        self._catalog = catalog
        self._new_member_id = new_member_id

    # JoinGroup

    def join(self, group: Group, request: JoinRequest) -> Joined:
        assert isinstance(group, ConsumerGroup)
        if group.is_empty:
            return self._join_anew(group, request)
        around = self._keeping.surroundings(group.group_id)
        subscription = check_join(group, request, around)
        member_id = request.member_id or self._new_member_id()
        if subscription is None:
            return resolved(JoinResponse(member_id, MemberIdRequired()))
        before = group.static_member(request.instance_id)
        draft = group.draft()
        changed = join(draft, request, member_id, subscription, around)
        if before is not None and before.classic is None and self._was_last_of_its_kind(draft):
            changes = self._downgrade(group, draft, member_id, subscription, changed, around)
        else:
            assign(draft, member_id, subscription, changed, around)
            changes = [*draft.changes]
        answer = join_answer(draft, request, member_id)
        kept = self._keeping.keep(group.group_id, changes)
        self._keeping.looked_at_topics(group.group_id, around)
        self._has_joined(request.group_id, member_id)
        return resolved(answer) if kept is None else when_kept(kept, answer)

    def _join_anew(self, group: ConsumerGroup, request: JoinRequest) -> Joined:
        """Nobody is a member: it is a group of whoever comes, unless that is refused."""
        check_first(request, self._classic_groups.limits)
        changes: Changes = [*group.deletion(), GroupDeleted(group.group_id)]
        self._keeping.keep(group.group_id, changes)
        return self._classic_groups.join(request)

    def _was_last_of_its_kind(self, draft: Draft) -> bool:
        """A static member of the consumer protocol has come back with the classic one."""
        return self._conversion.goes_classic_without(draft, ())

    def _downgrade(
        self,
        group: ConsumerGroup,
        draft: Draft,
        member_id: str,
        subscription: EmbeddedSubscription,
        changed: bool,
        around: Surroundings,
    ) -> Changes:
        if not changed:
            assign(draft, member_id, subscription, changed, around)
        return self._conversion.to_classic(group, draft, (), rebalances=changed)

    def _has_joined(self, group_id: str, member_id: str) -> None:
        group = self._keeping.find(group_id)
        if group is not None:
            member = group.members[member_id]
            group.timeouts.cancel(member_id, Timeout.JOIN)
            self._keeping.begin_session(group, member)
            self._keeping.set(group, member_id, Timeout.SYNC, member.rebalance_timeout_ms)

    # SyncGroup

    def sync(self, group: Group, request: SyncRequest) -> Synced:
        assert isinstance(group, ConsumerGroup)
        member, classic = classic_member(
            group, request.member_id, request.instance_id, request.generation_id
        )
        try:
            check_sync(group, classic, request)
        except RebalanceInProgress:
            self._is_to_join(group, member)
            raise
        group.timeouts.cancel(member.member_id, Timeout.SYNC)
        self._keeping.begin_session(group, member)
        has = group.current(member.member_id).assigned
        assignment = embedded_assignment(classic, has, self._catalog)
        answer = SyncResponse(None, request.protocol_type, request.protocol_name, assignment)
        return self._when_known(group, answer)

    # Heartbeat

    def heartbeat(
        self, group: Group, member_id: str, instance_id: str | None, generation_id: int
    ) -> Heard | None:
        assert isinstance(group, ConsumerGroup)
        member, _ = classic_member(group, member_id, instance_id, generation_id)
        self._keeping.begin_session(group, member)
        if not must_join_again(group, member_id):
            return None
        self._is_to_join(group, member)
        answer: BrokerError | None = RebalanceInProgress()
        return self._when_known(group, answer)

    def _is_to_join(self, group: ConsumerGroup, member: MemberSubscription) -> None:
        self._keeping.set_if_absent(
            group, member.member_id, Timeout.JOIN, member.rebalance_timeout_ms
        )

    # LeaveGroup

    def leave(self, group: Group, leaving: Sequence[Leaving]) -> Left:
        assert isinstance(group, ConsumerGroup)
        gone: dict[str, None] = {}
        told: list[BrokerError | None] = []
        for one in leaving:
            try:
                member = leaving_classic_member(group, one.member_id, one.instance_id)
                gone[member.member_id] = None
                told.append(None)
            except BrokerError as refusal:
                told.append(refusal.as_value())
        changes = self._keeping.without(group, list(gone)) if gone else []
        kept = self._keeping.keep(group.group_id, changes)
        return resolved(told) if kept is None else when_kept(kept, told)

    def _when_known(self, group: ConsumerGroup, answer: T) -> Pending[T | BrokerError]:
        """An earlier change of the group may not be kept yet."""
        kept = self._keeping.keep(group.group_id, [])
        return resolved(answer) if kept is None else when_kept(kept, answer)
