"""GroupMoves: groups, with their offsets, are in memory where they are coordinated.

Kafka's election and resignation of a partition of `__consumer_offsets`: members continue in their
generation with new sessions, as after a restart.
"""

from __future__ import annotations

from application.groups.coordinator import GroupCoordinator
from application.groups.offset_cleanup import OffsetCleanup
from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.state.coordinators import Moved


class GroupMoves:
    def __init__(
        self,
        groups: Groups,
        offsets: Offsets,
        coordinator: GroupCoordinator,
        offset_cleanup: OffsetCleanup,
    ) -> None:
        self._groups = groups
        self._offsets = offsets
        self._coordinator = coordinator
        self._offset_cleanup = offset_cleanup

    def lost(self, group_ids: Moved) -> None:
        """Nothing of them is persisted from now on. Their rows may be gone already."""
        self._unload(group_ids)
        self._coordinator.stop(group_ids)

    def gained(self, group_ids: Moved) -> None:
        """Raises StorageFailed if their rows cannot be read."""
        self._unload(group_ids)  # what an attempt before has loaded
        self._groups.load(group_ids)
        self._offsets.pending.load(group_ids)
        self._offsets.load(group_ids)
        self._offset_cleanup.start()
        self._coordinator.start(group_ids)

    def _unload(self, group_ids: Moved) -> None:
        self._groups.unload(group_ids)
        self._offsets.pending.unload(group_ids)
        self._offsets.unload(group_ids)
