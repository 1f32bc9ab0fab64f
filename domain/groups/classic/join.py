"""JoinGroup of a classic group, decided.

A new dynamic member gets an id and has to come back with it (KIP-394), so that clients that retry
leave no members behind. Static members that return are in static_return.py.
"""

from __future__ import annotations

from domain.errors import (
    BrokerError,
    GroupMaxSizeReached,
    GroupMetadataTooLarge,
    InconsistentGroupProtocol,
    InvalidSessionTimeout,
    MemberIdRequired,
    RebalanceInProgress,
    UnknownMemberId,
)
from domain.groups.classic.changes import (
    JoinResponse,
    MemberJoined,
    MemberPending,
    MemberRemoved,
    Now,
)
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.member import ClassicMember, JoinRequest, metadata_bytes
from domain.groups.classic.rebalance import (
    Limits,
    can_start,
    members_for_leader,
    pending_failed,
    start_with,
    together,
)
from domain.groups.classic.states import State
from domain.groups.classic.static_return import static_member_returned
from domain.groups.group import Decision

#: A new client sends no heartbeats while it waits: a vanished one is only found by this timeout.
NEW_MEMBER_TIMEOUT_MS = 5 * 60 * 1000


def check_session_timeout(request: JoinRequest, limits: Limits) -> None:
    least_ms, most_ms = limits.min_session_timeout_ms, limits.max_session_timeout_ms
    if not least_ms <= request.session_timeout_ms <= most_ms:
        raise InvalidSessionTimeout()


def check_first(request: JoinRequest, limits: Limits) -> None:
    """The first member of a group has no id yet, and supports some protocol."""
    if request.member_id:
        raise UnknownMemberId()
    if not _has_protocols(request):
        raise InconsistentGroupProtocol()
    if _metadata_bytes(request) > limits.max_metadata_bytes:
        raise GroupMetadataTooLarge()


def join(
    group: ClassicGroup, request: JoinRequest, new_id: str, token: int, now: Now, limits: Limits
) -> Decision:
    """`new_id`: for a member that has none; `token`: of the request."""
    if not _has_room(group, request.member_id, limits):
        full = _refused(token, "", GroupMaxSizeReached())
        return full._replace(changes=(MemberRemoved(group.group_id, request.member_id),))
    if not _fits(group, request, limits):
        return _refused(token, request.member_id, GroupMetadataTooLarge())
    if not _supports(group, request):
        return _refused(token, request.member_id, InconsistentGroupProtocol())
    if not request.member_id:
        return _join_new(group, request, new_id, token, now, limits)
    return _join_known(group, request, token, now.monotonic_ms, limits)


def _refused(token: int, member_id: str, error: BrokerError) -> Decision:
    return Decision(responses=((token, JoinResponse(member_id, error)),))


def _has_room(group: ClassicGroup, member_id: str, limits: Limits) -> bool:
    """While a group rebalances, the last to join finds it full, even if it was a member before."""
    if not member_id and len(group.pending) >= limits.max_size:
        return False
    if group.state is State.EMPTY:
        return True
    member = group.members.get(member_id)
    if group.state is State.PREPARING_REBALANCE:
        waits = member is not None and member.joining is not None
        return waits or group.joining < limits.max_size
    return member is not None or len(group.members) < limits.max_size


def _fits(group: ClassicGroup, request: JoinRequest, limits: Limits) -> bool:
    """With the member's new metadata in place of the old."""
    member_id = request.member_id or group.static_members.get(request.instance_id or "", "")
    member = group.members.get(member_id)
    others = group.metadata_bytes - (member.metadata_bytes if member is not None else 0)
    return others + _metadata_bytes(request) <= limits.max_metadata_bytes


def _metadata_bytes(request: JoinRequest) -> int:
    return metadata_bytes(request.protocols, request.instance_id, request.client_id)


def _supports(group: ClassicGroup, request: JoinRequest) -> bool:
    if group.state is State.EMPTY:
        return _has_protocols(request)
    return request.protocol_type == group.protocol_type and (
        group.supported.first_known_to_all(request.protocols, len(group.members)) is not None
    )


def _has_protocols(request: JoinRequest) -> bool:
    return bool(request.protocol_type and request.protocols)


# ---- members without an id


def _join_new(
    group: ClassicGroup, request: JoinRequest, new_id: str, token: int, now: Now, limits: Limits
) -> Decision:
    if request.instance_id is not None:
        old_id = group.static_members.get(request.instance_id)
        if old_id is not None:
            return static_member_returned(
                group, request, group.members[old_id], new_id, token, now, limits
            )
    elif request.joins_twice:
        deadline_ms = now.monotonic_ms + request.session_timeout_ms
        required = _refused(token, new_id, MemberIdRequired())
        return required._replace(changes=(MemberPending(group.group_id, new_id, deadline_ms),))
    return _add(group, request, new_id, token, now.monotonic_ms, limits)


def _add(
    group: ClassicGroup,
    request: JoinRequest,
    member_id: str,
    token: int,
    now_ms: int,
    limits: Limits,
) -> Decision:
    member = ClassicMember.joined(request, member_id, token)
    member.session_deadline_ms = now_ms + NEW_MEMBER_TIMEOUT_MS
    return _admitted(group, request, member, now_ms, limits)


def _admitted(
    group: ClassicGroup, request: JoinRequest, member: ClassicMember, now_ms: int, limits: Limits
) -> Decision:
    joined = Decision((MemberJoined(group.group_id, member, request.protocol_type),))
    if not can_start(group):
        return joined
    return together(joined, start_with(group, member, member.member_id, now_ms, limits))


# ---- members with an id


def _join_known(
    group: ClassicGroup, request: JoinRequest, token: int, now_ms: int, limits: Limits
) -> Decision:
    member_id = request.member_id
    if member_id in group.pending and request.instance_id is None:
        return _add(group, request, member_id, token, now_ms, limits)
    try:
        group.check_member(member_id, request.instance_id)
    except BrokerError as refusal:
        return _refused(token, member_id, refusal.as_value())
    member = group.members[member_id]
    is_leader = member_id == group.leader
    if member.protocols == request.protocols and (
        group.state is State.COMPLETING_REBALANCE or (group.state is State.STABLE and not is_leader)
    ):
        # Its response may be lost. By this the leader of a stable group requests a rebalance.
        return Decision(responses=((token, _current(group, member_id)),))
    rejoined = _admitted(group, request, member.rejoined(request, token), now_ms, limits)
    earlier = Decision(responses=pending_failed(member, member_id, RebalanceInProgress()))
    return together(earlier, rejoined)


def _current(group: ClassicGroup, member_id: str) -> JoinResponse:
    leads = member_id == group.leader and group.state is State.COMPLETING_REBALANCE
    return JoinResponse(
        member_id,
        None,
        group.generation_id,
        group.protocol_type,
        group.protocol_name,
        group.leader or "",
        members_for_leader(group.members.values(), group.protocol_name) if leads else (),
    )
