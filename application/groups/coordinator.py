"""GroupCoordinator: the requests of group members, by the kind of their group.

                        a classic group        a consumer group
JoinGroup, SyncGroup,
Heartbeat, LeaveGroup   classic_protocol.py    classic_members.py
ConsumerGroupHeartbeat  consumer_protocol.py   consumer_protocol.py
timeouts                classic_protocol.py    consumer_protocol.py

request -> decide (domain/groups) -> apply and persist (decisions.py) -> responses
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from application.background.runner import Runner
from application.groups.classic_members import ClassicMembers
from application.groups.classic_protocol import (
    ClassicProtocol,
    PendingHeartbeat,
    PendingJoin,
    PendingLeave,
    PendingSync,
)
from application.groups.configs import GroupConfigs
from application.groups.consumer_protocol import ConsumerProtocol, HeartbeatResponse
from application.groups.deadlines import Deadlines
from application.groups.decisions import Decisions
from application.groups.group_log import GroupLog
from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.ports.clock import Clock
from application.ports.patterns import CompilePattern
from application.ports.pending import resolved
from application.state.catalog import Catalog
from domain.configs.broker import BrokerConfig
from domain.errors import (
    BrokerError,
    CoordinatorNotAvailable,
    InvalidGroupId,
    NotCoordinator,
    RebalanceInProgress,
    UnknownMemberId,
)
from domain.groups.classic.leave import LeavingMember
from domain.groups.classic.member import JoinRequest
from domain.groups.classic.sync import SyncRequest
from domain.groups.consumer.heartbeat_request import Heartbeat
from domain.groups.group import Group, GroupKind

#: While no timeout may end, due ones are looked at again.
HELD_MS = 1000


class GroupCoordinator:
    def __init__(
        self,
        groups: Groups,
        offsets: Offsets,
        configs: GroupConfigs,
        catalog: Catalog,
        compile_pattern: CompilePattern,
        clock: Clock,
        background: Runner,
        config: BrokerConfig,
        log: GroupLog,
        new_uuid: Callable[[], str],
        new_member_id: Callable[[], str],
    ) -> None:
        self._groups = groups
        self._offsets = offsets
        self._clock = clock
        self._is_held = False
        self._deadlines = Deadlines(background, clock, self._due)
        self._decisions = Decisions(groups, clock, log, self._converted)
        self._classic = classic = ClassicProtocol(
            groups, self._decisions, self._deadlines, offsets, clock, config, new_uuid
        )
        self._consumer = consumer = ConsumerProtocol(
            groups, self._decisions, self._deadlines, configs, catalog, compile_pattern, clock,
            background, config, new_member_id,
        )  # fmt: skip
        members = ClassicMembers(groups, self._decisions, classic, consumer, catalog, new_member_id)
        #: JoinGroup, SyncGroup, Heartbeat and LeaveGroup, and timeouts, by the kind of the group.
        self._requests: dict[GroupKind, ClassicProtocol | ClassicMembers] = {
            GroupKind.CLASSIC: classic,
            GroupKind.CONSUMER: members,
        }
        self._timers: dict[GroupKind, ClassicProtocol | ConsumerProtocol] = {
            GroupKind.CLASSIC: classic,
            GroupKind.CONSUMER: consumer,
        }
        groups.on_reloaded(self._reloaded)

    # ---- requests

    def join_group(self, request: JoinRequest) -> PendingJoin:
        _check_group_id(request.group_id)
        self._classic.check_session_timeout(request)
        self._offsets.check_coordinated(request.group_id)
        group: Any = self._groups.find(request.group_id)
        if group is None:
            return self._classic.create(request)
        return self._requests[group.kind].join(group, request)

    def sync_group(self, request: SyncRequest) -> PendingSync:
        group = self._find(request.group_id)
        return self._requests[group.kind].sync(group, request)

    def heartbeat(
        self, group_id: str, member_id: str, instance_id: str | None, generation_id: int
    ) -> PendingHeartbeat | None:
        """None: no error."""
        group = self._find(group_id)
        return self._requests[group.kind].heartbeat(group, member_id, instance_id, generation_id)

    def leave_group(self, group_id: str, leaving: Sequence[LeavingMember]) -> PendingLeave:
        _check_group_id(group_id)
        self._offsets.check_coordinated(group_id)
        group: Any = self._groups.find(group_id)
        if group is None:
            return resolved([UnknownMemberId() for _ in leaving])
        return self._requests[group.kind].leave(group, leaving)

    def consumer_group_heartbeat(
        self, group_id: str, heartbeat: Heartbeat, members_make_ids: bool
    ) -> HeartbeatResponse:
        self._offsets.check_coordinated(group_id)
        return self._consumer.heartbeat(group_id, heartbeat, members_make_ids)

    def _find(self, group_id: str) -> Any:
        # Any: its kind chooses the protocol, whose methods take that kind of group only.
        _check_group_id(group_id)
        self._offsets.check_coordinated(group_id)
        group = self._groups.find(group_id)
        if group is None:
            raise UnknownMemberId()
        return group

    def list_groups(self, states: Collection[str], kinds: Collection[str]) -> list[Group]:
        """Groups in any of these states and of any of these kinds; an empty filter matches all."""
        self._offsets.check_loaded()
        states = {state.lower() for state in states}
        kinds = {kind.lower() for kind in kinds}
        return [
            group
            for group in self._groups
            if (not states or group.state_name.lower() in states)
            and (not kinds or group.kind.value.lower() in kinds)
        ]

    # ---- timeouts and conversions

    def _reloaded(self, group_id: str) -> None:
        """The group was reloaded from the store: no response may show its lost state."""
        error = CoordinatorNotAvailable("The state of the group could not be persisted.")
        self._decisions.fail(group_id, error)
        group: Any = self._groups.find(group_id)
        if group is not None:
            self._timers[group.kind].restored(group)

    def _converted(self, before: GroupKind, group: Any) -> None:
        if before is GroupKind.CLASSIC:
            # Members that wait for the end of a rebalance join again.
            self._decisions.fail(group.group_id, RebalanceInProgress())
        self._timers[group.kind].restored(group)

    def _due(self, group_id: str) -> int | None:
        group: Any = self._groups.find(group_id)
        if group is None:
            return None
        if self._is_held or not self._offsets.has_lease:
            return self._clock.monotonic_ms() + HELD_MS
        return self._timers[group.kind].due(group)

    def hold(self) -> None:
        """No timeout ends until `resume`: no heartbeat is served here, perhaps elsewhere."""
        self._is_held = True

    def resume(self) -> None:
        """All sessions start again."""
        self._is_held = False
        self.start()

    def start(self, group_ids: Callable[[str], bool] = lambda _: True) -> None:
        """Starts all timeouts, also of members that joined before a restart, or another node."""
        group: Any
        for group in list(self._groups):
            if group_ids(group.group_id):
                self._timers[group.kind].restored(group)

    def stop(self, group_ids: Callable[[str], bool]) -> None:
        """Ends the timeouts and the pending requests of groups that this node has dropped."""
        self._deadlines.cancel_all(group_ids)
        for group_id in filter(group_ids, list(self._decisions.waiting)):
            self._decisions.fail(group_id, NotCoordinator("Another node coordinates the group."))

    @property
    def pending_requests(self) -> int:
        return sum(map(len, self._decisions.waiting.values()))

    def release(self) -> None:
        """The broker is stopping: clients look for the coordinator again."""
        self.fail_pending(CoordinatorNotAvailable())

    def fail_pending(self, error: BrokerError) -> None:
        """Fails the pending requests of all groups."""
        for group_id in list(self._decisions.waiting):
            self._decisions.fail(group_id, error)


def _check_group_id(group_id: str) -> None:
    if not group_id:
        raise InvalidGroupId()
