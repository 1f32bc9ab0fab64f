"""A static member is back, with a new id: it takes the place of its old one (KIP-345).

In a stable group that goes without a rebalance, unless it makes another protocol win; whoever still
uses the old id is fenced.
"""

from __future__ import annotations

from domain.errors import BrokerError, FencedInstanceId
from domain.groups.classic.changes import (
    Decision,
    GroupMetadataChanged,
    JoinResponse,
    MemberReplaced,
    Moment,
    SyncResponse,
)
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.member import ClassicMember, JoinRequest, elected_protocol
from domain.groups.classic.rebalance import Limits, start_with, together, told
from domain.groups.classic.states import State


def return_of(
    group: ClassicGroup,
    request: JoinRequest,
    old: ClassicMember,
    new_id: str,
    token: int,
    now: Moment,
    limits: Limits,
) -> Decision:
    member = old.rejoined(request, token)
    member.member_id = new_id
    member.syncing = None
    member.is_new = False
    member.renew(now.monotonic_ms)
    replaced = Decision((MemberReplaced(group.group_id, old.member_id, member),))
    fenced = together(given_up(old, FencedInstanceId()), replaced)
    if group.state is State.PREPARING_REBALANCE:
        return fenced
    members = [member if one is old else one for one in group.members.values()]
    if group.state is State.STABLE and elected_protocol(members) == group.protocol_name:
        return _quiet(group, request, old, member, members, now, given_up(old, FencedInstanceId()))
    # The leader may already have assigned to the old id.
    return together(fenced, start_with(group, member, old.member_id, now.monotonic_ms, limits))


def given_up(member: ClassicMember, error: BrokerError) -> Decision:
    """For what the member waits for on another connection."""
    answers: list[tuple[int, JoinResponse | SyncResponse]] = []
    if member.joining is not None:
        answers.append((member.joining, JoinResponse(member.member_id, error)))
    if member.syncing is not None:
        answers.append((member.syncing, SyncResponse(error)))
    return Decision(answers=tuple(answers))


def _quiet(
    group: ClassicGroup,
    request: JoinRequest,
    old: ClassicMember,
    member: ClassicMember,
    members: list[ClassicMember],
    now: Moment,
    fenced: Decision,
) -> Decision:
    """The generation goes on, and the new id is kept before anybody hears of it.

    A client that can be told to leave the assignment as it is hears that it is the leader; an older
    one does not, or it would assign anew what the others are not asked for.
    """
    token, member.joining = member.joining, None
    assert token is not None
    was_leader = group.leader == old.member_id
    image = group.image(now.wall_ms)._replace(
        leader=member.member_id if was_leader else group.leader,
        members=tuple(one.kept() for one in members),
    )
    leads = was_leader and request.may_skip_assignment
    answer = JoinResponse(
        member.member_id,
        None,
        group.generation_id,
        group.protocol_type,
        group.protocol_name,
        (image.leader if request.may_skip_assignment else group.leader) or "",
        told(members, group.protocol_name) if leads else (),
        leads,
    )
    changes = (
        MemberReplaced(group.group_id, old.member_id, member),
        GroupMetadataChanged(group.group_id, image),
    )
    return together(fenced, Decision(changes, ((token, answer),)))
