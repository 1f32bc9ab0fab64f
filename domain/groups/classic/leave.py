"""LeaveGroup of a classic group, decided: several members may leave at once (KIP-345)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from domain.errors import BrokerError, UnknownMemberId
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.rebalance import (
    Limits,
    can_start,
    longest_timeout_ms,
    removal,
    start,
    together,
)
from domain.groups.group import LEFT, Decision


class LeavingMember(NamedTuple):
    """An admin names static members by their instance id alone."""

    member_id: str
    instance_id: str | None


def leave(
    group: ClassicGroup, leaving: Sequence[LeavingMember], now_ms: int, limits: Limits
) -> Decision:
    """Its response: an error or None for each member that is to leave."""
    gone: dict[str, None] = {}
    results: list[BrokerError | None] = []
    for one in leaving:
        try:
            gone[_member_id(group, one, gone)] = None
            results.append(None)
        except BrokerError as refusal:
            results.append(refusal.as_value())
    if not gone:
        return Decision(response=results)
    decision = removal(group, gone, UnknownMemberId(), LEFT)
    if group.members and can_start(group):
        staying = [one for one in group.members.values() if one.member_id not in gone]
        timeout_ms = longest_timeout_ms(staying)
        started = start(group, now_ms, timeout_ms, limits, without=gone)
        decision = together(decision, started)
    return decision._replace(response=results)


def _member_id(group: ClassicGroup, leaving: LeavingMember, gone: dict[str, None]) -> str:
    """Raises when it is no member, or left already in this request."""
    member_id = leaving.member_id
    if not member_id:
        known_id = None
        if leaving.instance_id is not None:
            known_id = group.static_members.get(leaving.instance_id)
        if known_id is None:
            raise UnknownMemberId()
        member_id = known_id
    elif member_id not in group.pending:
        group.check_member(member_id, leaving.instance_id)
    if member_id in gone:
        raise UnknownMemberId()
    return member_id
