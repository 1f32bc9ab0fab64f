"""SyncGroup of a classic group, decided: the leader sends the assignments, the others wait."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from domain.errors import GroupMetadataTooLarge, InconsistentGroupProtocol, RebalanceInProgress
from domain.groups.classic.changes import (
    GroupMetadataChanged,
    MemberSynced,
    Now,
    SyncResponse,
    SyncsCompleted,
)
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.rebalance import (
    Limits,
    longest_timeout_ms,
    pending_failed,
    start,
    together,
)
from domain.groups.classic.states import State
from domain.groups.group import Decision


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
    group: ClassicGroup, request: SyncRequest, token: int, now: Now, limits: Limits
) -> Decision:
    """Refused requests raise."""
    group.check_heartbeat(request.member_id, request.instance_id, request.generation_id)
    _check_protocol(group, request)
    if group.state is State.PREPARING_REBALANCE:
        raise RebalanceInProgress()
    member = group.members[request.member_id]
    if group.state is State.STABLE:
        synced = (MemberSynced(group.group_id, member.member_id, None),)
        return Decision(synced, ((token, _response(group, member.assignment)),))
    earlier = pending_failed(member, member.member_id, RebalanceInProgress())
    synced = (MemberSynced(group.group_id, member.member_id, token),)
    if member.member_id != group.leader:
        return Decision(synced, earlier)
    if not _fits(group, request, limits):
        return _too_large(group, token, now, limits)
    return _assigned(group, request, token, now, Decision(synced, earlier))


def _check_protocol(group: ClassicGroup, request: SyncRequest) -> None:
    if request.protocol_type not in (None, group.protocol_type):
        raise InconsistentGroupProtocol()
    if request.protocol_name not in (None, group.protocol_name):
        raise InconsistentGroupProtocol()


def _assigned(
    group: ClassicGroup, request: SyncRequest, token: int, now: Now, synced: Decision
) -> Decision:
    """Members without an assignment by the leader get an empty one."""
    given = request.assignments
    image = group.image(now.wall_ms)._replace(
        members=tuple(
            member.image(given.get(member.member_id, b"")) for member in group.members.values()
        ),
        is_assigned=True,
    )
    responses = tuple(
        (member.syncing, _response(group, given.get(member.member_id, b"")))
        for member in group.members.values()
        if member.syncing is not None and member.member_id != request.member_id
    )
    own = (token, _response(group, given.get(request.member_id, b"")))
    changes = (
        *synced.changes,
        GroupMetadataChanged(group.group_id, image),
        SyncsCompleted(group.group_id, now.monotonic_ms),
    )
    return Decision(changes, (*synced.responses, *responses, own))


def _fits(group: ClassicGroup, request: SyncRequest, limits: Limits) -> bool:
    given = sum(len(request.assignments.get(member_id, b"")) for member_id in group.members)
    return group.metadata_bytes + given <= limits.max_metadata_bytes


def _too_large(group: ClassicGroup, token: int, now: Now, limits: Limits) -> Decision:
    """As in Kafka: all members get the error, and the group rebalances."""
    error = GroupMetadataTooLarge()
    timeout_ms = longest_timeout_ms(group.members.values())
    started = start(group, now.monotonic_ms, timeout_ms, limits, error=error)
    return together(started, Decision(responses=((token, SyncResponse(error)),)))


def _response(group: ClassicGroup, assignment: bytes) -> SyncResponse:
    return SyncResponse(None, group.protocol_type, group.protocol_name, assignment)
