"""SyncGroup of a classic group, decided: the leader says who reads what, the others wait for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from domain.errors import GroupMetadataTooLarge, InconsistentGroupProtocol, RebalanceInProgress
from domain.groups.classic.changes import (
    Decision,
    GroupMetadataChanged,
    JoinResponse,
    MemberSynced,
    Moment,
    SyncResponse,
    SyncsAnswered,
)
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.rebalance import Limits, longest_timeout_ms, start, together
from domain.groups.classic.states import State


class SyncRequest(NamedTuple):
    group_id: str
    generation_id: int
    member_id: str
    instance_id: str | None
    protocol_type: str | None
    protocol_name: str | None
    #: By member id; from the leader.
    assignments: Mapping[str, bytes]


def sync(
    group: ClassicGroup, request: SyncRequest, token: int, now: Moment, limits: Limits
) -> Decision:
    """Raises what is to be refused."""
    group.check_heartbeat(request.member_id, request.instance_id, request.generation_id)
    _check_protocol(group, request)
    if group.state is State.PREPARING_REBALANCE:
        raise RebalanceInProgress()
    member = group.members[request.member_id]
    if group.state is State.STABLE:
        synced = (MemberSynced(group.group_id, member.member_id, None),)
        return Decision(synced, ((token, _answer(group, member.assignment)),))
    # It has asked before, on another connection, and nobody waits there any more.
    given_up: tuple[tuple[int, JoinResponse | SyncResponse], ...] = ()
    if member.syncing is not None:
        given_up = ((member.syncing, SyncResponse(RebalanceInProgress())),)
    synced = (MemberSynced(group.group_id, member.member_id, token),)
    if member.member_id != group.leader:
        return Decision(synced, given_up)
    if not _fits(group, request, limits):
        return _too_large(group, token, now, limits)
    return _assigned(group, request, token, now, Decision(synced, given_up))


def _check_protocol(group: ClassicGroup, request: SyncRequest) -> None:
    if request.protocol_type not in (None, group.protocol_type):
        raise InconsistentGroupProtocol()
    if request.protocol_name not in (None, group.protocol_name):
        raise InconsistentGroupProtocol()


def _assigned(
    group: ClassicGroup, request: SyncRequest, token: int, now: Moment, synced: Decision
) -> Decision:
    """Whom the leader forgot has nothing to do."""
    given = request.assignments
    image = group.image(now.wall_ms)._replace(
        members=tuple(
            member.kept(given.get(member.member_id, b"")) for member in group.members.values()
        ),
        is_assigned=True,
    )
    answers = tuple(
        (member.syncing, _answer(group, given.get(member.member_id, b"")))
        for member in group.members.values()
        if member.syncing is not None and member.member_id != request.member_id
    )
    own = (token, _answer(group, given.get(request.member_id, b"")))
    changes = (
        *synced.changes,
        GroupMetadataChanged(group.group_id, image),
        SyncsAnswered(group.group_id, now.monotonic_ms),
    )
    return Decision(changes, (*synced.answers, *answers, own))


def _fits(group: ClassicGroup, request: SyncRequest, limits: Limits) -> bool:
    given = sum(len(request.assignments.get(member_id, b"")) for member_id in group.members)
    return group.said_bytes + given <= limits.max_metadata_bytes


def _too_large(group: ClassicGroup, token: int, now: Moment, limits: Limits) -> Decision:
    """As in Kafka: everybody is told, and the group rebalances."""
    error = GroupMetadataTooLarge()
    timeout_ms = longest_timeout_ms(group.members.values())
    started = start(group, now.monotonic_ms, timeout_ms, limits, error=error)
    return together(started, Decision(answers=((token, SyncResponse(error)),)))


def _answer(group: ClassicGroup, assignment: bytes) -> SyncResponse:
    return SyncResponse(None, group.protocol_type, group.protocol_name, assignment)
