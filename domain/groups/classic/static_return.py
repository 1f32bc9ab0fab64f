"""A static member is back, with a new id: it takes the place of its old one (KIP-345).

In a stable group that goes without a rebalance, unless it makes another protocol win; a client
that still uses the old id is fenced.
"""

from __future__ import annotations

from domain.errors import FencedInstanceId
from domain.groups.classic.changes import (
    GroupMetadataChanged,
    JoinResponse,
    MemberReplaced,
    Now,
)
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.member import ClassicMember, JoinRequest, elected_protocol
from domain.groups.classic.rebalance import (
    Limits,
    members_for_leader,
    pending_failed,
    start_with,
    together,
)
from domain.groups.classic.states import State
from domain.groups.group import Decision


def static_member_returned(
    group: ClassicGroup,
    request: JoinRequest,
    old: ClassicMember,
    new_id: str,
    token: int,
    now: Now,
    limits: Limits,
) -> Decision:
    member = old.rejoined(request, token)
    member.member_id = new_id
    member.syncing = None
    member.is_new = False
    member.renew(now.monotonic_ms)
    responses = pending_failed(old, old.member_id, FencedInstanceId())
    fenced = Decision((MemberReplaced(group.group_id, old.member_id, member),), responses)
    if group.state is State.PREPARING_REBALANCE:
        return fenced
    members = [member if one is old else one for one in group.members.values()]
    if group.state is State.STABLE and elected_protocol(members) == group.protocol_name:
        return _quiet(group, request, old, member, members, now, fenced)
    # The leader may already have assigned to the old id.
    return together(fenced, start_with(group, member, old.member_id, now.monotonic_ms, limits))


def _quiet(
    group: ClassicGroup,
    request: JoinRequest,
    old: ClassicMember,
    member: ClassicMember,
    members: list[ClassicMember],
    now: Now,
    fenced: Decision,
) -> Decision:
    """The generation goes on, and the new id is persisted before it is sent.

    A client that can skip the assignment learns that it is the leader; an older one does not, or it
    would assign again while the others send no SyncGroup.
    """
    token, member.joining = member.joining, None
    assert token is not None
    was_leader = group.leader == old.member_id
    image = group.image(now.wall_ms)._replace(
        leader=member.member_id if was_leader else group.leader,
        members=tuple(one.image() for one in members),
    )
    leads = was_leader and request.may_skip_assignment
    response = JoinResponse(
        member.member_id,
        None,
        group.generation_id,
        group.protocol_type,
        group.protocol_name,
        (image.leader if request.may_skip_assignment else group.leader) or "",
        members_for_leader(members, group.protocol_name) if leads else (),
        leads,
    )
    persisted = GroupMetadataChanged(group.group_id, image)
    return together(fenced, Decision((persisted,), ((token, response),)))
