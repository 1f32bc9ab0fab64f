"""OffsetFetch: durable committed offsets, from memory."""

from __future__ import annotations

from application.groups.offsets import NOTHING, GroupOffsets, Offsets
from application.groups.registry import Groups
from domain.errors import GroupIdNotFound


class OffsetFetchService:
    def __init__(self, offsets: Offsets, groups: Groups) -> None:
        self._offsets = offsets
        self._groups = groups

    def offsets(self, group_id: str, member_id: str | None, epoch: int) -> GroupOffsets:
        """Empty for an unknown group; raises if the member may not fetch.

        While the deletion of a group is not durable, its offsets are still returned.
        """
        self._offsets.check_to_fetch(group_id)
        group = self._groups.find(group_id)
        if group is None:
            return self._offsets.of(group_id)
        try:
            group.check_fetch(member_id, epoch)
        except GroupIdNotFound:
            return NOTHING
        return self._offsets.of(group_id)
