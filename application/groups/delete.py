"""DeleteGroups: a group and all that it has committed go together."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from application.groups.group_log import GroupLog
from application.groups.offsets import Done, Offsets
from application.groups.registry import Groups
from application.pending import Pending
from domain.errors import BrokerError, CoordinatorNotAvailable, GroupIdNotFound, StorageFailed
from domain.groups.group import Group

DeletedGroups = dict[str, BrokerError | None]


class DeleteGroupsService:
    def __init__(self, offsets: Offsets, groups: Groups, log: GroupLog) -> None:
        self._offsets = offsets
        self._groups = groups
        self._log = log

    def delete(self, group_ids: Iterable[str]) -> Pending[DeletedGroups]:
        """Each once, whatever was asked; a group that may not go does not keep the others."""
        results: DeletedGroups = dict.fromkeys(group_ids)
        pending: Pending[DeletedGroups] = Pending()
        found = []
        for group_id in results:
            try:
                found.append(self._find(group_id))
            except BrokerError as refused:
                results[group_id] = refused.as_value()
        all_done = _Countdown(len(found), lambda: pending.resolve(results))
        for group in found:
            self.remove(group, _settling(results, group.group_id, all_done))
        all_done.start()
        return pending

    def _find(self, group_id: str) -> Group:
        self._offsets.check_loaded()
        group = self._groups.find(group_id)
        if group is None:
            raise GroupIdNotFound(f"Group {group_id} not found.")
        group.check_delete()
        return group

    def remove(self, group: Group, then: Done, expired: bool = False) -> None:
        """The group, which is empty, and its offsets, in one commit where they share a store."""
        group_id = group.group_id
        failures: list[StorageFailed] = []

        def gone() -> None:
            if not failures:
                self._log.deleted(group_id, group.kind, len(rows), expired)
            then(failures[0] if failures else None)

        both = _Countdown(2, gone)

        def done(failure: StorageFailed | None) -> None:
            if failure is not None:
                failures.append(failure)
            both.one_less()

        rows = [(group_id, *place, None) for place in self._offsets.partitions(group_id)]
        if rows:
            self._offsets.keep(group_id, rows, done)
        else:
            both.one_less()
        self._groups.keep(group_id, group.deletion(), done)
        both.start()


def _settling(results: DeletedGroups, group_id: str, all_done: _Countdown) -> Done:
    def settled(failure: StorageFailed | None) -> None:
        if failure is not None:
            results[group_id] = CoordinatorNotAvailable()
        all_done.one_less()

    return settled


class _Countdown:
    """Calls once everybody is done, and not before it is started: some are done at once."""

    __slots__ = ("_call", "_left", "_started")

    def __init__(self, left: int, call: Callable[[], None]) -> None:
        self._left = left
        self._call = call
        self._started = False

    def start(self) -> None:
        self._started = True
        self._look()

    def one_less(self) -> None:
        self._left -= 1
        self._look()

    def _look(self) -> None:
        if self._started and not self._left:
            self._call()
