"""The state of a classic group, and the functions that apply changes to it.

A rebalance: all members join (PreparingRebalance); one of them, the leader, gets the list of
members and assigns partitions, and every member gets its assignment by SyncGroup
(CompletingRebalance); then the group is Stable, until a member joins, changes or leaves.

Requests and timeouts are decided in join.py, sync.py, leave.py and rebalance.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.groups.classic.changes import (
    GenerationStarted,
    GroupMetadataChanged,
    Image,
    MemberJoined,
    MemberPending,
    MemberRemoved,
    MemberReplaced,
    MemberSynced,
    RebalanceExtended,
    RebalanceStarted,
    SessionsStarted,
    SyncsCompleted,
)
from domain.groups.classic.member import ClassicMember, MemberImage, SupportedProtocols
from domain.groups.classic.states import Event, State, next_state
from domain.groups.group import Group, GroupChange, GroupDeleted, GroupKind


class ClassicGroupState(Group):
    kind = GroupKind.CLASSIC

    __slots__ = (
        "_topics",
        "extension_ms",
        "generation_id",
        "has_new_member",
        "is_initial",
        "is_persisted",
        "join_deadline_ms",
        "joining",
        "leader",
        "members",
        "metadata_bytes",
        "pending",
        "protocol_name",
        "protocol_type",
        "since_ms",
        "soonest_ms",
        "state",
        "static_members",
        "supported",
        "sync_deadline_ms",
        "unread",
        "unsynced",
    )

    def __init__(self, group_id: str) -> None:
        super().__init__(group_id)
        self.state = State.EMPTY
        self.generation_id = 0
        self.protocol_type = ""
        self.protocol_name: str | None = None
        self.leader: str | None = None
        self.members: dict[str, ClassicMember] = {}
        #: The member id of each instance id.
        self.static_members: dict[str, str] = {}
        #: Issued member ids (KIP-394) that were not used yet, with their deadlines.
        self.pending: dict[str, int] = {}
        self.supported = SupportedProtocols()
        #: Size of the metadata of all members.
        self.metadata_bytes = 0
        #: Members that wait for the response to JoinGroup.
        self.joining = 0
        #: Members that got the JoinGroup response of this generation and sent no SyncGroup yet.
        self.unsynced: set[str] = set()
        #: The current rebalance.
        self.join_deadline_ms: int | None = None
        self.is_initial = False
        self.extension_ms = 0
        self.has_new_member = False
        self.sync_deadline_ms: int | None = None
        #: The persisted state, if any, its time, and the topics of the members, which are parsed
        #: from `unread` at first use.
        self.is_persisted = False
        self.since_ms: int | None = None
        self.unread: Image | None = None
        self._topics: frozenset[str] | None = None
        #: At or before the next timeout.
        self.soonest_ms: int | None = None

    def apply(self, change: GroupChange) -> None:
        _APPLY[type(change)](self, change)

    def rebalance_timeout_ms(self) -> int:
        return max((one.rebalance_timeout_ms for one in self.members.values()), default=0)


def _move(group: ClassicGroupState, event: Event) -> None:
    group.state = next_state(group.state, event)


def _note(group: ClassicGroupState, deadline_ms: int | None) -> None:
    soonest_ms = group.soonest_ms
    if deadline_ms is not None and (soonest_ms is None or deadline_ms < soonest_ms):
        group.soonest_ms = deadline_ms


def _renew(group: ClassicGroupState, member: ClassicMember, now_ms: int) -> None:
    member.renew(now_ms)
    _note(group, member.session_deadline_ms)


# ---- members


def _pending(group: ClassicGroupState, change: MemberPending) -> None:
    assert change.member_id not in group.members, change.member_id
    group.pending[change.member_id] = change.deadline_ms
    _note(group, change.deadline_ms)


def _joined(group: ClassicGroupState, change: MemberJoined) -> None:
    member = change.member
    known = group.members.get(member.member_id)
    if known is not None:
        _forget(group, known)
    else:
        if not group.members:
            group.protocol_type = change.protocol_type
        group.has_new_member = True
    assert group.protocol_type == change.protocol_type, change.protocol_type
    if group.leader is None:
        group.leader = member.member_id
    group.pending.pop(member.member_id, None)
    _put(group, member)


def _replaced(group: ClassicGroupState, change: MemberReplaced) -> None:
    _forget(group, group.members.pop(change.old_id))
    _await_no_more(group, change.old_id)
    _put(group, change.member)
    if group.leader == change.old_id:
        group.leader = change.member.member_id


def _removed(group: ClassicGroupState, change: MemberRemoved) -> None:
    member = group.members.pop(change.member_id, None)
    if member is not None:
        _forget(group, member)
        if member.instance_id is not None:
            del group.static_members[member.instance_id]
    if group.leader == change.member_id:
        group.leader = next(iter(group.members), None)
    group.pending.pop(change.member_id, None)
    _await_no_more(group, change.member_id)


def _put(group: ClassicGroupState, member: ClassicMember) -> None:
    group.members[member.member_id] = member
    group.supported.add(member)
    group.metadata_bytes += member.metadata_bytes
    if member.joining is not None:
        group.joining += 1
    if member.instance_id is not None:
        group.static_members[member.instance_id] = member.member_id
    _note(group, member.session_deadline_ms)


def _forget(group: ClassicGroupState, member: ClassicMember) -> None:
    group.supported.remove(member)
    group.metadata_bytes -= member.metadata_bytes
    if member.joining is not None:
        group.joining -= 1


# ---- rebalances


def _rebalance_started(group: ClassicGroupState, change: RebalanceStarted) -> None:
    if group.state is State.COMPLETING_REBALANCE:
        for member in group.members.values():
            member.assignment = b""
    _move(group, Event.MEMBERS_CHANGED)
    group.unsynced.clear()
    group.sync_deadline_ms = None
    group.is_initial = change.is_initial
    _extended(group, change)


def _extended(group: ClassicGroupState, change: RebalanceStarted | RebalanceExtended) -> None:
    group.join_deadline_ms = change.deadline_ms
    group.extension_ms = change.extension_ms
    group.has_new_member = False
    _note(group, change.deadline_ms)


def _generation_started(group: ClassicGroupState, change: GenerationStarted) -> None:
    for member in group.members.values():
        member.joining = None
        member.is_new = False
        _renew(group, member, change.now_ms)
    group.joining = 0
    _await_syncs(group, change.sync_deadline_ms)


def _await_syncs(group: ClassicGroupState, deadline_ms: int) -> None:
    group.unsynced = set(group.members)
    group.sync_deadline_ms = deadline_ms
    _note(group, deadline_ms)


def _synced(group: ClassicGroupState, change: MemberSynced) -> None:
    group.members[change.member_id].syncing = change.token
    _await_no_more(group, change.member_id)


def _await_no_more(group: ClassicGroupState, member_id: str) -> None:
    group.unsynced.discard(member_id)
    if not group.unsynced:
        group.sync_deadline_ms = None


def _syncs_completed(group: ClassicGroupState, change: SyncsCompleted) -> None:
    for member in group.members.values():
        if member.syncing is not None:
            member.syncing = None
            _renew(group, member, change.now_ms)


def _sessions_started(group: ClassicGroupState, change: SessionsStarted) -> None:
    for member in group.members.values():
        _renew(group, member, change.now_ms)
    deadline_ms = change.now_ms + group.rebalance_timeout_ms()
    if group.state is State.COMPLETING_REBALANCE:
        _await_syncs(group, deadline_ms)
    elif group.join_deadline_ms is not None and not group.is_initial:
        group.join_deadline_ms = deadline_ms
        _note(group, deadline_ms)


# ---- persisted state


def _metadata_changed(group: ClassicGroupState, change: GroupMetadataChanged) -> None:
    image = change.image
    group.is_persisted = image is not None
    if image is None:
        return
    assert image.generation_id >= group.generation_id, "generations never go back"
    _follow(group, image)
    group.generation_id = image.generation_id
    group.protocol_type = image.protocol_type
    group.protocol_name = image.protocol_name
    group.since_ms = image.since_ms
    group.join_deadline_ms = None
    group.is_initial = False
    for one in image.members:
        _restore_member(group, one)
    group.leader = image.leader
    group.unread = image


def _follow(group: ClassicGroupState, image: Image) -> None:
    """Moves to the persisted state."""
    if not image.members:
        if group.state is not State.EMPTY:
            _move(group, Event.NO_MEMBERS_LEFT)
    elif group.state is State.EMPTY:
        restored = Event.RESTORED_ASSIGNED if image.is_assigned else Event.RESTORED_UNASSIGNED
        _move(group, restored)
    elif group.state is not State.STABLE:
        _move(group, Event.ASSIGNED if image.is_assigned else Event.GENERATION_STARTED)


def _restore_member(group: ClassicGroupState, image: MemberImage) -> None:
    member = group.members.get(image.member_id)
    if member is None:
        _put(group, ClassicMember(image))
    else:
        member.assignment = image.assignment


_APPLY: dict[type[GroupChange], Callable[[ClassicGroupState, Any], None]] = {
    GroupMetadataChanged: _metadata_changed,
    GenerationStarted: _generation_started,
    MemberJoined: _joined,
    MemberPending: _pending,
    MemberRemoved: _removed,
    MemberReplaced: _replaced,
    MemberSynced: _synced,
    RebalanceExtended: _extended,
    RebalanceStarted: _rebalance_started,
    SessionsStarted: _sessions_started,
    SyncsCompleted: _syncs_completed,
    GroupDeleted: lambda group, change: _move(group, Event.DELETED),
}
