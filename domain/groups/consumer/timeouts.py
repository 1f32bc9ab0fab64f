"""Timeouts: by when something must be heard of each member, or it is taken out of the group.

Not persisted: after a restart all timeouts begin again.
"""

from __future__ import annotations

from enum import Enum


class Timeout(Enum):
    SESSION = "session_timeout"
    #: For the partitions that it must revoke.
    REVOCATION = "rebalance_timeout"
    #: A member of the classic protocol did not join again, or joined and did not sync.
    JOIN = "join_timeout"
    SYNC = "sync_timeout"


class Timeouts:
    __slots__ = ("_by_member",)

    def __init__(self) -> None:
        self._by_member: dict[str, dict[Timeout, int]] = {}

    def set(self, member_id: str, timeout: Timeout, deadline_ms: int) -> None:
        self._by_member.setdefault(member_id, {})[timeout] = deadline_ms

    def set_if_absent(self, member_id: str, timeout: Timeout, deadline_ms: int) -> None:
        self._by_member.setdefault(member_id, {}).setdefault(timeout, deadline_ms)

    def cancel(self, member_id: str, timeout: Timeout) -> None:
        self._by_member.get(member_id, {}).pop(timeout, None)

    def forget(self, member_id: str) -> None:
        self._by_member.pop(member_id, None)

    def expired(self, now_ms: int) -> list[str]:
        return [
            member_id
            for member_id, deadlines in self._by_member.items()
            if deadlines and min(deadlines.values()) <= now_ms
        ]

    def overdue(self, member_id: str, now_ms: int) -> Timeout | None:
        """What it has been waited for longest in vain."""
        deadlines = self._by_member.get(member_id)
        if not deadlines:
            return None
        first = min(deadlines, key=deadlines.__getitem__)
        return first if deadlines[first] <= now_ms else None

    def next_ms(self) -> int | None:
        return min(
            (min(deadlines.values()) for deadlines in self._by_member.values() if deadlines),
            default=None,
        )
