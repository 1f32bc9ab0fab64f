"""ClassicMembers: requests of the classic protocol to a consumer group.

A group has such members while it is upgraded or downgraded one member at a time (KIP-848).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from application.groups.classic_protocol import (
    ClassicProtocol,
    PendingHeartbeat,
    PendingJoin,
    PendingLeave,
    PendingSync,
)
from application.groups.consumer_protocol import ConsumerProtocol
from application.groups.decisions import Decisions
from application.groups.registry import Groups
from application.state.catalog import Catalog
from domain.errors import RebalanceInProgress
from domain.groups.classic.changes import SyncResponse
from domain.groups.classic.leave import LeavingMember
from domain.groups.classic.member import JoinRequest
from domain.groups.classic.sync import SyncRequest
from domain.groups.consumer.classic_members import (
    check_sync,
    classic_member,
    join,
    leave,
    must_join_again,
)
from domain.groups.consumer.conversion import embedded_assignment
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.member import MemberSubscription
from domain.groups.consumer.timeouts import Timeout


class ClassicMembers:
    def __init__(
        self,
        groups: Groups,
        decisions: Decisions,
        classic: ClassicProtocol,
        consumer: ConsumerProtocol,
        catalog: Catalog,
        new_member_id: Callable[[], str],
    ) -> None:
        self._groups = groups
        self._decisions = decisions
        self._classic = classic
        self._consumer = consumer
        self._catalog = catalog
        self._new_member_id = new_member_id

    def join(self, group: ConsumerGroup, request: JoinRequest) -> PendingJoin:
        if group.is_empty:
            return self._replace(group, request)
        group_id = group.group_id
        context = self._consumer.context(group_id)
        new_id = request.member_id or self._new_member_id()
        decision = join(group, request, new_id, context, self._decisions.now())
        if decision.response.error is None:
            self._consumer.apply(group_id, decision, context)
            self._start_sync_timeout(group_id, decision.response.member_id)
        return self._decisions.response(group_id, decision.response)

    def _replace(self, group: ConsumerGroup, request: JoinRequest) -> PendingJoin:
        """An empty group becomes a classic one with its next member, unless that is refused."""
        self._classic.check_first(request)
        self._decisions.apply(group.group_id, group.deletion())
        return self._classic.create(request)

    def _start_sync_timeout(self, group_id: str, member_id: str) -> None:
        group = ConsumerGroup.of(self._groups.find(group_id))
        if group is not None:
            member = group.members[member_id]
            group.timeouts.cancel(member_id, Timeout.JOIN)
            self._consumer.begin_session(group, member)
            self._consumer.set_timeout(group, member_id, Timeout.SYNC, member.rebalance_timeout_ms)

    def sync(self, group: ConsumerGroup, request: SyncRequest) -> PendingSync:
        member, classic = classic_member(
            group, request.member_id, request.instance_id, request.generation_id
        )
        try:
            check_sync(group, classic, request)
        except RebalanceInProgress:
            self._must_join(group, member)
            raise
        group.timeouts.cancel(member.member_id, Timeout.SYNC)
        self._consumer.begin_session(group, member)
        assigned = group.current(member.member_id).assigned
        assignment = embedded_assignment(classic, assigned, self._catalog)
        response = SyncResponse(None, request.protocol_type, request.protocol_name, assignment)
        return self._decisions.response(group.group_id, response)

    def heartbeat(
        self, group: ConsumerGroup, member_id: str, instance_id: str | None, generation_id: int
    ) -> PendingHeartbeat | None:
        member, _ = classic_member(group, member_id, instance_id, generation_id)
        self._consumer.begin_session(group, member)
        if not must_join_again(group, member_id):
            return None
        self._must_join(group, member)
        return self._decisions.response(group.group_id, RebalanceInProgress())

    def _must_join(self, group: ConsumerGroup, member: MemberSubscription) -> None:
        self._consumer.set_timeout(
            group, member.member_id, Timeout.JOIN, member.rebalance_timeout_ms, if_absent=True
        )

    def leave(self, group: ConsumerGroup, leaving: Sequence[LeavingMember]) -> PendingLeave:
        decision = leave(group, leaving, self._catalog, self._consumer.rules, self._decisions.now())
        self._decisions.apply(group.group_id, decision.changes)
        return self._decisions.response(group.group_id, decision.response)
