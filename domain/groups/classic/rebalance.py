"""How a rebalance begins and ends, and what happens when time passes. All of it decides.

start       members must join again, within the longest of their rebalance timeouts
complete    dynamic members that did not join are removed; the others are the next generation
follow_up   completes when all members have joined
expire      the next timeout that is due, if any
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from domain.errors import BrokerError, RebalanceInProgress, UnknownMemberId
from domain.groups.classic.changes import (
    ClassicGroupChange,
    GenerationStarted,
    GroupMetadataChanged,
    Image,
    JoinResponse,
    MemberRemoved,
    Now,
    RebalanceExtended,
    RebalanceStarted,
    SyncResponse,
    SyncsCompleted,
)
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.member import ClassicMember, elected_protocol
from domain.groups.classic.states import State
from domain.groups.group import Decision

#: A group looks no sooner for static members that do not join: a member may ask for no time at all.
LEAST_EXTENSION_MS = 1000


class Limits(NamedTuple):
    """Settings of the broker."""

    min_session_timeout_ms: int
    max_session_timeout_ms: int
    max_size: int
    initial_delay_ms: int
    max_metadata_bytes: int


def start(
    group: ClassicGroup,
    now_ms: int,
    timeout_ms: int,
    limits: Limits,
    without: Collection[str] = (),
    error: BrokerError | None = None,
) -> Decision:
    """`timeout_ms`: of the current members; `without`: members whose responses the caller decides;
    `error`: for members that wait for the leader.
    """
    if group.state is State.EMPTY:
        delay_ms = limits.initial_delay_ms
        extension_ms = max(timeout_ms - delay_ms, 0)
        started = RebalanceStarted(group.group_id, now_ms + delay_ms, True, extension_ms)
        return Decision((started,))
    started = RebalanceStarted(group.group_id, now_ms + timeout_ms)
    if group.state is not State.COMPLETING_REBALANCE:
        return Decision((started,))
    # A member that waits for the leader sends no heartbeats.
    responses = tuple(
        (member.syncing, SyncResponse(error or RebalanceInProgress()))
        for member in group.members.values()
        if member.syncing is not None and member.member_id not in without
    )
    return Decision((SyncsCompleted(group.group_id, now_ms), started), responses)


def start_with(
    group: ClassicGroup, member: ClassicMember, old_id: str, now_ms: int, limits: Limits
) -> Decision:
    """`member` is new, or replaces the one with the old id."""
    others = [one for one in group.members.values() if one.member_id != old_id]
    timeout_ms = longest_timeout_ms((*others, member))
    return start(group, now_ms, timeout_ms, limits, without=(old_id,))


def can_start(group: ClassicGroup) -> bool:
    return group.state in (State.EMPTY, State.STABLE, State.COMPLETING_REBALANCE)


def longest_timeout_ms(members: Iterable[ClassicMember]) -> int:
    return max((member.rebalance_timeout_ms for member in members), default=0)


def removal(
    group: ClassicGroup, member_ids: Iterable[str], error: BrokerError, reason: str
) -> Decision:
    """They leave the group, and their pending requests fail."""
    changes = []
    responses: list[tuple[int, Any]] = []
    for member_id in member_ids:
        changes.append(MemberRemoved(group.group_id, member_id, reason))
        member = group.members.get(member_id)
        if member is not None:
            responses += pending_failed(member, "", error)
    return Decision(changes, responses)


def pending_failed(
    member: ClassicMember, member_id: str, error: BrokerError
) -> list[tuple[int, Any]]:
    """The responses to the member's JoinGroup or SyncGroup on another connection."""
    responses: list[tuple[int, Any]] = []
    if member.joining is not None:
        responses.append((member.joining, JoinResponse(member_id, error)))
    if member.syncing is not None:
        responses.append((member.syncing, SyncResponse(error)))
    return responses


def together(*decisions: Decision) -> Decision:
    return Decision(
        [change for one in decisions for change in one.changes],
        [response for one in decisions for response in one.responses],
    )


def follow_up(group: ClassicGroup, now: Now) -> Decision | None:
    """A new group waits for more members for its initial delay, even when all have joined."""
    if group.state is not State.PREPARING_REBALANCE or group.is_initial:
        return None
    return complete(group, now) if group.all_have_joined else None


def complete(group: ClassicGroup, now: Now) -> Decision:
    staying: list[ClassicMember] = []
    gone: list[ClassicMember] = []
    for member in group.members.values():
        (staying if member.joining is not None or member.is_static else gone).append(member)
    removed = tuple(
        MemberRemoved(group.group_id, one.member_id, "rebalance_timeout") for one in gone
    )
    if not staying:
        return Decision((*removed, _empty(group, now)))
    leader = _leader(group, staying)
    if leader is None:
        # No member joined: the static ones have until their sessions end.
        longer_ms = max(longest_timeout_ms(staying), LEAST_EXTENSION_MS)
        extended = RebalanceExtended(group.group_id, now.monotonic_ms + longer_ms)
        return Decision((*removed, extended))
    return _generation(group, removed, staying, leader, now)


def _leader(group: ClassicGroup, staying: list[ClassicMember]) -> str | None:
    """The previous leader, if it joined, or the first member that did."""
    joined = [member.member_id for member in staying if member.joining is not None]
    if group.leader in joined:
        return group.leader
    return joined[0] if joined else None


def _empty(group: ClassicGroup, now: Now) -> GroupMetadataChanged:
    generation_id = group.generation_id + 1
    image = Image(generation_id, group.protocol_type, None, None, now.wall_ms, (), False)
    return GroupMetadataChanged(group.group_id, image)


def _generation(
    group: ClassicGroup,
    removed: tuple[ClassicGroupChange, ...],
    members: list[ClassicMember],
    leader: str,
    now: Now,
) -> Decision:
    image = Image(
        group.generation_id + 1,
        group.protocol_type,
        elected_protocol(members),
        leader,
        now.wall_ms,
        tuple(member.image() for member in members),
        False,
    )
    to_leader = members_for_leader(members, image.protocol_name)
    responses = tuple(
        (
            member.joining,
            JoinResponse(
                member.member_id,
                None,
                image.generation_id,
                image.protocol_type,
                image.protocol_name,
                leader,
                to_leader if member.member_id == leader else (),
            ),
        )
        for member in members
        if member.joining is not None
    )
    sync_deadline_ms = now.monotonic_ms + longest_timeout_ms(members)
    started = GenerationStarted(group.group_id, now.monotonic_ms, sync_deadline_ms)
    return Decision((*removed, GroupMetadataChanged(group.group_id, image), started), responses)


def members_for_leader(
    members: Iterable[ClassicMember], protocol_name: str | None
) -> tuple[tuple[str, str | None, bytes], ...]:
    return tuple(
        (member.member_id, member.instance_id, member.metadata(protocol_name)) for member in members
    )


def expire(group: ClassicGroup, now: Now, limits: Limits) -> Decision | None:
    """The next timeout that is due; its changes end that timeout."""
    now_ms = now.monotonic_ms
    silent = _silent(group, now_ms)
    if silent:
        return _without(group, silent, "session_timeout", now_ms, limits)
    if group.join_deadline_ms is not None and group.join_deadline_ms <= now_ms:
        if group.is_initial and group.has_new_member and group.extension_ms:
            return _extension(group, now_ms, limits)
        return complete(group, now)
    if group.sync_deadline_ms is not None and group.sync_deadline_ms <= now_ms:
        return _without(group, group.unsynced, "sync_timeout", now_ms, limits)
    return None


def _silent(group: ClassicGroup, now_ms: int) -> list[str]:
    silent = [one for one, deadline_ms in group.pending.items() if deadline_ms <= now_ms]
    silent += [
        member.member_id
        for member in group.members.values()
        if member.session_deadline_ms is not None
        and member.session_deadline_ms <= now_ms
        and member.may_expire
    ]
    return silent


def _without(
    group: ClassicGroup, member_ids: Collection[str], reason: str, now_ms: int, limits: Limits
) -> Decision:
    gone = removal(group, member_ids, UnknownMemberId(), reason)
    members = [member for member in group.members.values() if member.member_id not in member_ids]
    if len(members) == len(group.members) or group.state is State.PREPARING_REBALANCE:
        return gone
    started = start(group, now_ms, longest_timeout_ms(members), limits, without=member_ids)
    return together(gone, started)


def _extension(group: ClassicGroup, now_ms: int, limits: Limits) -> Decision:
    delay_ms = min(limits.initial_delay_ms, group.extension_ms)
    left_ms = max(group.extension_ms - limits.initial_delay_ms, 0)
    return Decision((RebalanceExtended(group.group_id, now_ms + delay_ms, left_ms),))
