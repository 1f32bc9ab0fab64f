"""LeaveGroup of a classic group, decided: several members may leave at once (KIP-345)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from domain.errors import BrokerError, UnknownMemberId
from domain.groups.classic.changes import Decision
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.rebalance import (
    Limits,
    can_start,
    longest_timeout_ms,
    removal,
    start,
    together,
)
from domain.groups.departure import Departure


class Leaving(NamedTuple):
    """An admin names static members by their instance id alone."""

    member_id: str
    instance_id: str | None


def leave(
    group: ClassicGroup, leaving: Sequence[Leaving], now_ms: int, limits: Limits
) -> tuple[Decision, list[BrokerError | None]]:
    """With what each of them is told."""
    gone: dict[str, None] = {}
    told: list[BrokerError | None] = []
    for one in leaving:
        try:
            gone[_member_id(group, one, gone)] = None
            told.append(None)
        except BrokerError as refusal:
            told.append(refusal.as_value())
    if not gone:
        return Decision(), told
    decision = removal(group, gone, UnknownMemberId(), Departure.LEFT)
    if group.members and can_start(group):
        staying = [one for one in group.members.values() if one.member_id not in gone]
        timeout_ms = longest_timeout_ms(staying)
        started = start(group, now_ms, timeout_ms, limits, without=gone)
        decision = together(decision, started)
    return decision, told


def _member_id(group: ClassicGroup, leaving: Leaving, gone: dict[str, None]) -> str:
    """Who is meant; raises when nobody is, or nobody any more."""
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
