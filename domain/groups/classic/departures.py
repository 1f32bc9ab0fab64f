"""Why a classic group begins another generation, in a few words, and which members were removed.

It reads the group as it is before the changes are applied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from domain.groups.classic.changes import MemberJoined, MemberRemoved, MemberReplaced
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.join import NEW_MEMBER_TIMEOUT_MS
from domain.groups.classic.member import ClassicMember
from domain.groups.classic.states import State
from domain.groups.group import Changes, Departed, Departure


def of_classic(group: ClassicGroup, changes: Changes) -> tuple[Counter[str], Sequence[Departed]]:
    reasons: Counter[str] = Counter()
    departed: list[Departed] = []
    for change in changes:
        if isinstance(change, MemberJoined):
            if change.member.member_id not in group.members:
                reasons["came"] += 1
            elif group.state is not State.PREPARING_REBALANCE:
                reasons["joined again"] += 1
        elif isinstance(change, MemberReplaced):
            reasons["came back"] += 1
        elif isinstance(change, MemberRemoved):
            member = group.members.get(change.member_id)
            if member is not None:
                reasons[change.why.value] += 1
                if change.why is not Departure.LEFT:
                    departed.append(_departed(group, member, change.why))
    return reasons, departed


def _departed(group: ClassicGroup, member: ClassicMember, why: Departure) -> Departed:
    """A new member sends no heartbeats and has a longer timeout."""
    after_ms = NEW_MEMBER_TIMEOUT_MS if member.is_new else member.session_timeout_ms
    if why is not Departure.SILENT:
        after_ms = group.rebalance_timeout_ms()
    return Departed(member.member_id, member.client_id, member.client_host, why, after_ms)
