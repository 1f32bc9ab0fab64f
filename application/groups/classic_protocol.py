"""ClassicProtocol: JoinGroup, SyncGroup, Heartbeat and LeaveGroup of classic groups.

    request -> decide (domain/groups/classic/) -> apply -> what follows by itself -> answers

An answer leaves when all is kept that the group had become when it was decided: it never tells of a
state that a restart would take back. When that cannot be kept, the group is made again from what
was, and whoever waits is told CoordinatorNotAvailable; clients ask again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Protocol

from application.groups.deadlines import Deadlines
from application.groups.registry import Groups
from application.pending import Pending, resolved
from application.ports.clock import Clock
from application.upkeep.spare_time import SpareTime
from domain.configs.broker import BrokerConfig
from domain.errors import (
    BrokerError,
    CoordinatorNotAvailable,
    InvalidGroupId,
    RebalanceInProgress,
    StorageFailed,
    UnknownMemberId,
)
from domain.groups.classic.changes import (
    Decision,
    GroupMetadataChanged,
    JoinResponse,
    MemberRemoved,
    Moment,
    SessionsStarted,
    SyncResponse,
)
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.join import check_first, check_session_timeout, join
from domain.groups.classic.leave import Leaving, leave
from domain.groups.classic.member import JoinRequest
from domain.groups.classic.rebalance import Limits, expire, follow_up
from domain.groups.classic.states import State
from domain.groups.classic.sync import SyncRequest, sync
from domain.groups.group import Group

Joined = Pending[JoinResponse | BrokerError]
Synced = Pending[SyncResponse | BrokerError]
#: What each of them is told.
Left = Pending[list[BrokerError | None] | BrokerError]
Heard = Pending[BrokerError | None]
#: An answer, by its token.
Told = tuple[int, object]

#: So many ids of all groups may have been given away and not used yet.
MAX_GIVEN_IDS = 10_000


class CommittedOffsets(Protocol):
    def check_loaded(self) -> None: ...

    def holds(self, group_id: str) -> bool: ...


class ModernGroups(Protocol):
    """What the members that speak the classic protocol ask of a group of the other kind."""

    def join(self, group: Group, request: JoinRequest) -> Joined: ...

    def sync(self, group: Group, request: SyncRequest) -> Synced: ...

    def heartbeat(
        self, group: Group, member_id: str, instance_id: str | None, generation_id: int
    ) -> Heard | None: ...

    def leave(self, group: Group, leaving: Sequence[Leaving]) -> Left: ...


class ClassicProtocol:
    def __init__(
        self,
        groups: Groups,
        offsets: CommittedOffsets,
        clock: Clock,
        spare_time: SpareTime,
        config: BrokerConfig,
        new_uuid: Callable[[], str],
    ) -> None:
        self._groups = groups
        self._offsets = offsets
        self._clock = clock
        self._config = config
        self._new_uuid = new_uuid
        self._tokens = count(1)
        #: Whoever waits for an answer, by group and token: the member, if it is one.
        self._waiting: dict[str, dict[int, tuple[str, Pending[Any]]]] = {}
        #: Groups and the ids they gave away, the oldest first; most are members meanwhile.
        self._given: dict[tuple[str, str], None] = {}
        self._deadlines = Deadlines(spare_time, clock, self._due)
        self._spare_time = spare_time
        self._due_soon: set[str] = set()
        #: Set once: those who look after the other kind of group.
        self.modern: ModernGroups | None = None
        groups.when_lost(self._lost)

    @property
    def limits(self) -> Limits:
        config = self._config
        return Limits(
            config.group_min_session_timeout_ms,
            config.group_max_session_timeout_ms,
            config.group_max_size,
            config.group_initial_rebalance_delay_ms,
            config.group_metadata_max_bytes,
        )

    # ---- requests

    def join(self, request: JoinRequest) -> Joined:
        _check_group_id(request.group_id)
        limits = self.limits
        check_session_timeout(request, limits)
        self._offsets.check_loaded()
        found = self._groups.find(request.group_id)
        if found is not None and not isinstance(found, ClassicGroup):
            return self._modern().join(found, request)
        group = found
        if group is None:
            check_first(request, limits)
            group = ClassicGroup(request.group_id)
            self._groups.put(group)
        new_id = ""
        if not request.member_id:
            begins = request.client_id if request.instance_id is None else request.instance_id
            new_id = f"{begins}-{self._new_uuid()}"
        token = next(self._tokens)
        pending = self._wait(group, token, request.member_id or new_id)
        self._carry_out(group, join(group, request, new_id, token, self._now(), limits))
        if new_id in group.pending:
            self._remember(group.group_id, new_id)
        return pending

    def sync(self, request: SyncRequest) -> Synced:
        _check_group_id(request.group_id)
        group = self._find(request.group_id)
        if not isinstance(group, ClassicGroup):
            return self._modern().sync(group, request)
        token = next(self._tokens)
        decision = sync(group, request, token, self._now(), self.limits)
        pending = self._wait(group, token, request.member_id)
        self._carry_out(group, decision)
        return pending

    def heartbeat(
        self, group_id: str, member_id: str, instance_id: str | None, generation_id: int
    ) -> Heard | None:
        """None: all is well."""
        _check_group_id(group_id)
        group = self._find(group_id)
        if not isinstance(group, ClassicGroup):
            return self._modern().heartbeat(group, member_id, instance_id, generation_id)
        group.check_heartbeat(member_id, instance_id, generation_id)
        group.members[member_id].renew(self._clock.monotonic_ms())
        rebalances = group.state is State.PREPARING_REBALANCE
        if not rebalances and self._groups.is_kept(group_id):
            return None
        token = next(self._tokens)
        pending = self._wait(group, token, member_id)
        self._answer(group_id, [(token, RebalanceInProgress() if rebalances else None)])
        return pending

    def leave(self, group_id: str, leaving: Sequence[Leaving]) -> Left:
        _check_group_id(group_id)
        self._offsets.check_loaded()
        group = self._groups.find(group_id)
        if group is None:
            return resolved([UnknownMemberId() for _ in leaving])
        if not isinstance(group, ClassicGroup):
            return self._modern().leave(group, leaving)
        decision, told = leave(group, leaving, self._clock.monotonic_ms(), self.limits)
        token = next(self._tokens)
        pending = self._wait(group, token)
        self._carry_out(group, decision, [(token, told)])
        return pending

    def _find(self, group_id: str) -> Group:
        self._offsets.check_loaded()
        group = self._groups.find(group_id)
        if group is None:
            raise UnknownMemberId()
        return group

    def _modern(self) -> ModernGroups:
        assert self.modern is not None, "nobody looks after consumer groups"
        return self.modern

    def _now(self) -> Moment:
        return Moment(self._clock.monotonic_ms(), self._clock.now_ms())

    # ---- decisions become facts

    def _wait(self, group: ClassicGroup, token: int, member_id: str = "") -> Pending[Any]:
        pending: Pending[Any] = Pending()
        self._waiting.setdefault(group.group_id, {})[token] = (member_id, pending)
        return pending

    def _carry_out(
        self, group: ClassicGroup, decision: Decision, last: Sequence[Told] = ()
    ) -> None:
        """`last`: what is told when all of it has been decided."""
        self._decide(group, decision)
        self._answer(group.group_id, last)
        self._watch(group)
        self._forget_if_nothing(group)

    def _decide(self, group: ClassicGroup, decision: Decision | None) -> None:
        while decision is not None:
            if any(isinstance(change, GroupMetadataChanged) for change in decision.changes):
                # Who has to know how that went waits for it in `_answer`.
                self._groups.keep(group.group_id, decision.changes, lambda failure: None)
            else:
                self._groups.apply(decision.changes)
            self._answer(group.group_id, decision.answers)
            decision = follow_up(group, self._now())

    def _answer(self, group_id: str, answers: Sequence[Told]) -> None:
        """Now, or when all is kept that they may tell of."""
        if not answers:
            return
        if self._groups.is_kept(group_id):
            self._resolve(group_id, answers)
            return

        def kept(failure: StorageFailed | None) -> None:
            if failure is None:
                self._renew(group_id, answers)
                self._resolve(group_id, answers)

        self._groups.when_kept(group_id, kept)

    def _renew(self, group_id: str, answers: Sequence[Told]) -> None:
        """It took a while to keep what they are told, and they could not be heard."""
        group = self._groups.find(group_id)
        waiting = self._waiting.get(group_id, {})
        if not isinstance(group, ClassicGroup):
            return
        for token, _ in answers:
            member_id, _ = waiting.get(token, ("", None))
            member = group.members.get(member_id)
            if member is not None and not member.is_new:
                member.renew(self._clock.monotonic_ms())

    def _remember(self, group_id: str, given_id: str) -> None:
        """In place of the oldest: a client that should use that after all begins anew."""
        if len(self._given) >= MAX_GIVEN_IDS:
            oldest = next(iter(self._given))
            del self._given[oldest]
            group = self._groups.find(oldest[0])
            if isinstance(group, ClassicGroup) and oldest[1] in group.pending:
                self._carry_out(group, Decision((MemberRemoved(*oldest),)))
        self._given[group_id, given_id] = None

    def _resolve(self, group_id: str, answers: Sequence[Told]) -> None:
        waiting = self._waiting.get(group_id, {})
        for token, answer in answers:
            _, pending = waiting.pop(token, ("", None))
            if pending is not None:
                pending.resolve(answer)
        if not waiting:
            self._waiting.pop(group_id, None)

    def _forget_if_nothing(self, group: ClassicGroup) -> None:
        """A client that asked to join and went away leaves nothing behind."""
        if group.state is not State.EMPTY or group.pending or group.is_kept:
            return
        if self._groups.find(group.group_id) is group and not self._offsets.holds(group.group_id):
            self._groups.remove(group.group_id)
            self._deadlines.forget(group.group_id)

    # ---- failures

    def _lost(self, group_id: str) -> None:
        """It is what was kept again: nobody who waits may be told what it had become."""
        self.give_up(group_id, CoordinatorNotAvailable())
        self.take_over(group_id)

    def give_up(self, group_id: str, error: BrokerError) -> None:
        """Whoever waits for this group is told so; also when it becomes one of the other kind."""
        for _, pending in self._waiting.pop(group_id, {}).values():
            pending.resolve(error)

    # ---- time

    def start(self) -> None:
        """Members of groups that were read from the store have their sessions from now on."""
        for group in list(self._groups):
            self.take_over(group.group_id)

    def take_over(self, group_id: str) -> None:
        """A group that was made elsewhere, out of what was kept."""
        group = self._groups.find(group_id)
        if isinstance(group, ClassicGroup):
            group.apply(SessionsStarted(group_id, self._clock.monotonic_ms()))
            self._watch(group)

    def _watch(self, group: ClassicGroup) -> None:
        """What is due at once is due when all is read that came with it: more members, say."""
        group_id, soonest_ms = group.group_id, group.soonest_ms
        if soonest_ms is None or soonest_ms > self._clock.monotonic_ms():
            self._deadlines.watch(group_id, soonest_ms)
        elif group_id not in self._due_soon:
            self._due_soon.add(group_id)
            self._spare_time.soon(lambda: self._due_now(group_id))

    def _due_now(self, group_id: str) -> None:
        self._due_soon.discard(group_id)
        try:
            self._due(group_id)
        except Exception:
            self._deadlines.watch_again(group_id)
            raise
        group = self._groups.find(group_id)
        if isinstance(group, ClassicGroup):
            self._watch(group)

    @property
    def is_idle(self) -> bool:
        """Nobody waits, and nothing is on its way into the store."""
        return not (self._waiting or self._due_soon) and self._groups.all_are_kept

    def release(self) -> None:
        """At the end: whoever waits is to ask another time."""
        for group_id in list(self._waiting):
            self.give_up(group_id, CoordinatorNotAvailable())

    def _due(self, group_id: str) -> int | None:
        """One step: what is due after it waits for the next wake, and everybody else has a turn."""
        group = self._groups.find(group_id)
        if not isinstance(group, ClassicGroup):
            return None
        self._decide(group, expire(group, self._now(), self.limits))
        self._forget_if_nothing(group)
        group.soonest_ms = group.next_deadline()
        return group.soonest_ms


def _check_group_id(group_id: str) -> None:
    if not group_id:
        raise InvalidGroupId()
