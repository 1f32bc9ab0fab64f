"""OffsetDelete: committed offsets of single partitions."""

from __future__ import annotations

from collections.abc import Sequence

from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.state.runtime import Done
from domain.errors import InvalidGroupId
from domain.groups.group import Group
from domain.groups.offsets import check_offset_delete


class OffsetDeleteService:
    def __init__(self, offsets: Offsets, groups: Groups) -> None:
        self._offsets = offsets
        self._groups = groups

    def group(self, group_id: str) -> Group:
        """Raises unless its offsets may be deleted now."""
        if not group_id:
            raise InvalidGroupId()
        self._offsets.check_coordinated(group_id)
        group = self._groups.existing(group_id)
        check_offset_delete(group)
        return group

    def delete(self, group: Group, partitions: Sequence[tuple[str, int]], then: Done) -> None:
        """Partitions without a committed offset are ignored, as in Kafka."""
        group_id = group.group_id
        present = set(self._offsets.partitions(group_id))
        present.update(self._offsets.pending.partitions(group_id))
        present.intersection_update(partitions)
        if not present:
            self._offsets.runtime.when_durable(group_id, then)
            return
        self._offsets.delete(group_id, present, then)
