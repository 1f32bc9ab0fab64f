"""ClassicProtocol: JoinGroup, SyncGroup, Heartbeat and LeaveGroup of classic groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from application.groups.deadlines import Deadlines
from application.groups.decisions import Decisions
from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.ports.clock import Clock
from application.ports.pending import Pending
from domain.configs.broker import BrokerConfig
from domain.errors import BrokerError, RebalanceInProgress
from domain.groups.classic.changes import (
    JoinResponse,
    MemberRemoved,
    SessionsStarted,
    SyncResponse,
)
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.join import check_first, check_session_timeout, join
from domain.groups.classic.leave import LeavingMember, leave
from domain.groups.classic.member import JoinRequest
from domain.groups.classic.rebalance import Limits, expire, follow_up
from domain.groups.classic.states import State
from domain.groups.classic.sync import SyncRequest, sync
from domain.groups.group import Decision

PendingJoin = Pending[JoinResponse | BrokerError]
PendingSync = Pending[SyncResponse | BrokerError]
#: One error or None for each member.
PendingLeave = Pending[list[BrokerError | None] | BrokerError]
PendingHeartbeat = Pending[BrokerError | None]

#: Member ids of all groups that may be issued (KIP-394) and not used yet.
MAX_ISSUED_IDS = 10_000


class ClassicProtocol:
    def __init__(
        self,
        groups: Groups,
        decisions: Decisions,
        deadlines: Deadlines,
        offsets: Offsets,
        clock: Clock,
        config: BrokerConfig,
        new_uuid: Callable[[], str],
    ) -> None:
        self._groups = groups
        self._decisions = decisions
        self._deadlines = deadlines
        self._offsets = offsets
        self._clock = clock
        self._new_uuid = new_uuid
        self._limits = Limits(
            config.group_min_session_timeout_ms,
            config.group_max_session_timeout_ms,
            config.group_max_size,
            config.group_initial_rebalance_delay_ms,
            config.group_metadata_max_bytes,
        )
        #: Groups with the member ids they issued, oldest first; most of them have joined.
        self._issued: dict[tuple[str, str], None] = {}

    # ---- requests

    def check_session_timeout(self, request: JoinRequest) -> None:
        check_session_timeout(request, self._limits)

    def check_first(self, request: JoinRequest) -> None:
        check_first(request, self._limits)

    def create(self, request: JoinRequest) -> PendingJoin:
        """A new group, unless its first member is refused."""
        check_first(request, self._limits)
        group = ClassicGroup(request.group_id)
        self._groups.put(group)
        return self.join(group, request)

    def join(self, group: ClassicGroup, request: JoinRequest) -> PendingJoin:
        new_id = ""
        if not request.member_id:
            prefix = request.client_id if request.instance_id is None else request.instance_id
            new_id = f"{prefix}-{self._new_uuid()}"
        token = self._decisions.token()
        pending = self._decisions.wait(group.group_id, token, request.member_id or new_id)
        self._apply(group, join(group, request, new_id, token, self._decisions.now(), self._limits))
        if new_id in group.pending:
            self._remember(group.group_id, new_id)
        return pending

    def sync(self, group: ClassicGroup, request: SyncRequest) -> PendingSync:
        token = self._decisions.token()
        decision = sync(group, request, token, self._decisions.now(), self._limits)
        pending = self._decisions.wait(group.group_id, token, request.member_id)
        self._apply(group, decision)
        return pending

    def heartbeat(
        self, group: ClassicGroup, member_id: str, instance_id: str | None, generation_id: int
    ) -> PendingHeartbeat | None:
        group.check_heartbeat(member_id, instance_id, generation_id)
        group.members[member_id].renew(self._clock.monotonic_ms())
        rebalances = group.state is State.PREPARING_REBALANCE
        if not rebalances and group.group_id not in self._groups.runtime:
            return None
        error = RebalanceInProgress() if rebalances else None
        return self._decisions.response(group.group_id, error, member_id)

    def leave(self, group: ClassicGroup, leaving: Sequence[LeavingMember]) -> PendingLeave:
        decision = leave(group, leaving, self._clock.monotonic_ms(), self._limits)
        self._apply(group, decision)
        return self._decisions.response(group.group_id, decision.response)

    # ---- decisions

    def _apply(self, group: ClassicGroup, decision: Decision | None) -> None:
        self._decide(group, decision)
        self._deadlines.watch(group.group_id, group.soonest_ms)
        self._remove_if_unused(group)

    def _decide(self, group: ClassicGroup, decision: Decision | None) -> None:
        while decision is not None:
            self._decisions.apply(group.group_id, decision.changes)
            self._decisions.respond(group.group_id, decision.responses)
            decision = follow_up(group, self._decisions.now())

    def _remember(self, group_id: str, new_id: str) -> None:
        """Removes the oldest id above the limit: a later use of it gets UnknownMemberId."""
        if len(self._issued) >= MAX_ISSUED_IDS:
            oldest = next(iter(self._issued))
            del self._issued[oldest]
            group = ClassicGroup.of(self._groups.find(oldest[0]))
            if group is not None and oldest[1] in group.pending:
                self._apply(group, Decision((MemberRemoved(*oldest),)))
        self._issued[group_id, new_id] = None

    def _remove_if_unused(self, group: ClassicGroup) -> None:
        """A client that disappears after its first JoinGroup leaves no group."""
        if group.state is not State.EMPTY or group.pending or group.is_persisted:
            return
        if self._groups.find(group.group_id) is group and not self._offsets.holds(group.group_id):
            self._groups.remove(group.group_id)
            self._deadlines.cancel(group.group_id)

    # ---- time

    def restored(self, group: ClassicGroup) -> None:
        group.apply(SessionsStarted(group.group_id, self._clock.monotonic_ms()))
        self._deadlines.watch(group.group_id, group.soonest_ms)

    def due(self, group: ClassicGroup) -> int | None:
        """One timeout at a time, so that other requests are handled in between."""
        self._decide(group, expire(group, self._decisions.now(), self._limits))
        self._remove_if_unused(group)
        group.soonest_ms = group.next_deadline()
        return group.soonest_ms
