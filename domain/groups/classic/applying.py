"""What each change does to a classic group: the only functions that change one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
    SyncsAnswered,
)
from domain.groups.classic.member import ClassicMember, MemberImage
from domain.groups.classic.states import Event, State, next_state
from domain.groups.group import GroupChange

if TYPE_CHECKING:
    from domain.groups.classic.group import ClassicGroup


def _move(group: ClassicGroup, event: Event) -> None:
    group.state = next_state(group.state, event)


def _note(group: ClassicGroup, deadline_ms: int | None) -> None:
    soonest_ms = group.soonest_ms
    if deadline_ms is not None and (soonest_ms is None or deadline_ms < soonest_ms):
        group.soonest_ms = deadline_ms


def _renew(group: ClassicGroup, member: ClassicMember, now_ms: int) -> None:
    member.renew(now_ms)
    _note(group, member.session_deadline_ms)


# ---- members


def _pending(group: ClassicGroup, change: MemberPending) -> None:
    assert change.member_id not in group.members, change.member_id
    group.pending[change.member_id] = change.deadline_ms
    _note(group, change.deadline_ms)


def _joined(group: ClassicGroup, change: MemberJoined) -> None:
    member = change.member
    known = group.members.get(member.member_id)
    if known is not None:
        _forget(group, known)
    else:
        if not group.members:
            group.named_type = change.protocol_type
        group.member_came = True
    assert group.named_type == change.protocol_type, change.protocol_type
    if group.leader is None:
        group.leader = member.member_id
    group.pending.pop(member.member_id, None)
    _put(group, member)


def _replaced(group: ClassicGroup, change: MemberReplaced) -> None:
    _forget(group, group.members.pop(change.old_id))
    _await_no_more(group, change.old_id)
    _put(group, change.member)
    if group.leader == change.old_id:
        group.leader = change.member.member_id


def _removed(group: ClassicGroup, change: MemberRemoved) -> None:
    member = group.members.pop(change.member_id, None)
    if member is not None:
        _forget(group, member)
        if member.instance_id is not None:
            del group.static_members[member.instance_id]
    if group.leader == change.member_id:
        group.leader = next(iter(group.members), None)
    group.pending.pop(change.member_id, None)
    _await_no_more(group, change.member_id)


def _put(group: ClassicGroup, member: ClassicMember) -> None:
    group.members[member.member_id] = member
    group.supported.add(member)
    group.said_bytes += member.said_bytes
    if member.joining is not None:
        group.joining += 1
    if member.instance_id is not None:
        group.static_members[member.instance_id] = member.member_id
    _note(group, member.session_deadline_ms)


def _forget(group: ClassicGroup, member: ClassicMember) -> None:
    group.supported.remove(member)
    group.said_bytes -= member.said_bytes
    if member.joining is not None:
        group.joining -= 1


# ---- rebalances


def _rebalance_started(group: ClassicGroup, change: RebalanceStarted) -> None:
    if group.state is State.COMPLETING_REBALANCE:
        for member in group.members.values():
            member.assignment = b""
    _move(group, Event.MEMBERS_CHANGED)
    group.unsynced.clear()
    group.sync_deadline_ms = None
    group.is_initial = change.is_initial
    _extended(group, change)


def _extended(group: ClassicGroup, change: RebalanceStarted | RebalanceExtended) -> None:
    group.join_deadline_ms = change.deadline_ms
    group.extension_ms = change.extension_ms
    group.member_came = False
    _note(group, change.deadline_ms)


def _generation_started(group: ClassicGroup, change: GenerationStarted) -> None:
    for member in group.members.values():
        member.joining = None
        member.is_new = False
        _renew(group, member, change.now_ms)
    group.joining = 0
    _await_syncs(group, change.sync_deadline_ms)


def _await_syncs(group: ClassicGroup, deadline_ms: int) -> None:
    group.unsynced = set(group.members)
    group.sync_deadline_ms = deadline_ms
    _note(group, deadline_ms)


def _synced(group: ClassicGroup, change: MemberSynced) -> None:
    group.members[change.member_id].syncing = change.token
    _await_no_more(group, change.member_id)


def _await_no_more(group: ClassicGroup, member_id: str) -> None:
    group.unsynced.discard(member_id)
    if not group.unsynced:
        group.sync_deadline_ms = None


def _syncs_answered(group: ClassicGroup, change: SyncsAnswered) -> None:
    for member in group.members.values():
        if member.syncing is not None:
            member.syncing = None
            _renew(group, member, change.now_ms)


def _sessions_started(group: ClassicGroup, change: SessionsStarted) -> None:
    for member in group.members.values():
        _renew(group, member, change.now_ms)
    if group.state is State.COMPLETING_REBALANCE:
        _await_syncs(group, change.now_ms + group.rebalance_timeout_ms())


# ---- what is kept


def _kept(group: ClassicGroup, change: GroupMetadataChanged) -> None:
    image = change.image
    group.is_kept = image is not None
    if image is None:
        _move(group, Event.DELETED)
        return
    assert image.generation_id >= group.generation_id, "a generation never comes back"
    _follow(group, image)
    group.generation_id = image.generation_id
    group.named_type = image.protocol_type
    group.protocol_name = image.protocol_name
    group.since_ms = image.since_ms
    group.join_deadline_ms = None
    group.is_initial = False
    for one in image.members:
        _keep_member(group, one)
    group.leader = image.leader
    group.unread = image


def _follow(group: ClassicGroup, image: Image) -> None:
    """Into the state that is kept."""
    if not image.members:
        if group.state is not State.EMPTY:
            _move(group, Event.NOBODY_LEFT)
    elif group.state is State.EMPTY:
        restored = Event.RESTORED_ASSIGNED if image.is_assigned else Event.RESTORED_UNASSIGNED
        _move(group, restored)
    elif group.state is not State.STABLE:
        _move(group, Event.ASSIGNED if image.is_assigned else Event.GENERATION_STARTED)


def _keep_member(group: ClassicGroup, kept: MemberImage) -> None:
    member = group.members.get(kept.member_id)
    if member is None:
        _put(group, ClassicMember(kept))
    else:
        member.assignment = kept.assignment


APPLY: dict[type[GroupChange], Callable[[ClassicGroup, Any], None]] = {
    GroupMetadataChanged: _kept,
    GenerationStarted: _generation_started,
    MemberJoined: _joined,
    MemberPending: _pending,
    MemberRemoved: _removed,
    MemberReplaced: _replaced,
    MemberSynced: _synced,
    RebalanceExtended: _extended,
    RebalanceStarted: _rebalance_started,
    SessionsStarted: _sessions_started,
    SyncsAnswered: _syncs_answered,
}
