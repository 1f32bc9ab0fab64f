"""DeleteGroups: a group is deleted together with its committed offsets."""

from __future__ import annotations

from collections.abc import Iterable

from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.ports.event_log import EventLog
from application.ports.pending import Pending, later
from application.state.runtime import AggregateKey, if_durable, ignore, respond
from domain.errors import BrokerError, CoordinatorNotAvailable
from domain.groups.group import Group

DeletedGroups = dict[str, BrokerError | None]


class DeleteGroupsService:
    def __init__(self, offsets: Offsets, groups: Groups, events: EventLog) -> None:
        self._offsets = offsets
        self._groups = groups
        self._events = events

    def delete(self, group_ids: Iterable[str]) -> Pending[DeletedGroups]:
        """Each group once; a group that cannot be deleted does not affect the others."""
        results: DeletedGroups = dict.fromkeys(group_ids)
        keys: list[AggregateKey] = []
        for group_id in results:
            try:
                group = self._find(group_id)
            except BrokerError as refused:
                results[group_id] = refused.as_value()
            else:
                self.remove(group, "requested")
            keys += self.keys(group_id)  # also of a group whose deletion is in flight

        def done(failures: list[BrokerError | None]) -> DeletedGroups:
            for (_, group_id), failure in zip(keys, failures, strict=True):
                if failure is not None:
                    results[group_id] = CoordinatorNotAvailable()
            return results

        return later(respond(keys, [None] * len(keys))).map(done)

    def _find(self, group_id: str) -> Group:
        self._offsets.check_coordinated(group_id)
        group = self._groups.existing(group_id)
        group.check_delete()
        return group

    def keys(self, group_id: str) -> list[AggregateKey]:
        """What changes when the group is deleted."""
        return [(self._offsets.runtime, group_id), (self._groups.runtime, group_id)]

    def remove(self, group: Group, reason: str) -> None:
        """Removes a group and its offsets, in one commit if they share a store."""
        group_id = group.group_id
        # Neighbouring rows are written faster, so their order stays.
        partitions = dict.fromkeys(self._offsets.partitions(group_id))
        partitions.update(dict.fromkeys(self._offsets.pending.partitions(group_id)))
        if partitions:
            self._offsets.delete(group_id, partitions, ignore)
        self._groups.apply(group_id, group.deletion())

        def log() -> None:
            self._events.info("group_deleted", group=group_id, reason=reason)

        self._groups.runtime.when_durable(group_id, if_durable(log))
