"""Groups: all groups, in memory and in the store.

A change is applied when it is decided, so that the next request is decided on the new state. If its
commit fails, the group is reloaded from its rows, and its pending requests fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from application.ports.group_repository import GroupRepository
from application.state.commits import Commits
from application.state.coordinators import Coordinators
from application.state.runtime import Aggregates, Done, Runtime, ignore
from domain.errors import GroupIdNotFound
from domain.groups.classic.group import ClassicGroup
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.group import Changes, Group, GroupChange, GroupDeleted, GroupKind

_GROUPS: dict[GroupKind, type[Group]] = {
    group.kind: group for group in (ClassicGroup, ConsumerGroup)
}


class Groups(Aggregates[str, GroupChange]):
    """Those that this node coordinates."""

    def __init__(
        self, repository: GroupRepository, commits: Commits, coordinators: Coordinators
    ) -> None:
        self._repository = repository
        self._commits = commits
        self._by_id: dict[str, Group] = {}
        self._on_reloaded: list[Callable[[str], None]] = []
        self._on_removed: list[Callable[[str], None]] = []
        self.runtime: Runtime[str, GroupChange] = Runtime(self)
        self.load(coordinators.is_here)

    def load(self, group_ids: Callable[[str], bool]) -> None:
        self._apply(self._repository.load(includes=group_ids))

    def unload(self, group_ids: Callable[[str], bool]) -> None:
        """Removes groups from memory only: another node coordinates them."""
        self.runtime.drop(group_ids)
        for group_id in filter(group_ids, list(self._by_id)):
            del self._by_id[group_id]

    def __iter__(self) -> Iterator[Group]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def find(self, group_id: str) -> Group | None:
        return self._by_id.get(group_id)

    def existing(self, group_id: str) -> Group:
        group = self._by_id.get(group_id)
        if group is None:
            raise GroupIdNotFound(f"Group {group_id} not found.")
        return group

    def put(self, group: Group) -> None:
        """Adds a new group, or replaces one of the other kind."""
        self._by_id[group.group_id] = group

    def remove(self, group_id: str) -> None:
        """For groups that were never persisted."""
        self._by_id.pop(group_id, None)
        self._notify_if_removed(group_id)

    def on_removed(self, call: Callable[[str], None]) -> None:
        """Calls back with the id of each removed group, before any request looks for it."""
        self._on_removed.append(call)

    def _notify_if_removed(self, group_id: str) -> None:
        for call in self._on_removed:
            if group_id not in self._by_id:
                call(group_id)

    def on_reloaded(self, call: Callable[[str], None]) -> None:
        """Calls back with the id of each group whose changes could not be persisted."""
        self._on_reloaded.append(call)

    def apply(self, group_id: str, changes: Changes) -> None:
        """Applies the changes now, and persists them if any is durable: see `runtime`."""
        if any(change.is_durable for change in changes):
            self.runtime.persist(group_id, changes, ignore)
        else:
            self._apply(changes)

    def _apply(self, changes: Iterable[GroupChange]) -> None:
        for change in changes:
            group = self._by_id.get(change.group_id)
            if isinstance(change, GroupDeleted):
                self._by_id.pop(change.group_id, None)
            elif group is None:
                group = self._by_id[change.group_id] = _GROUPS[change.kind](change.group_id)
            if group is not None:
                group.apply(change)

    # ---- Aggregates

    def decided(self, group_id: str, changes: Changes) -> None:
        self._apply(changes)
        self._notify_if_removed(group_id)

    def stage(self, group_id: str, changes: Changes, done: Done) -> None:
        for change in changes:
            self._repository.save(change)
        self._commits.when_committed(done)

    def lost(self, group_id: str, changes: Changes, first: bool) -> None:
        """Reloads the group, once for all changes that are lost together."""
        if not first:
            return
        self._by_id.pop(group_id, None)
        try:
            self._apply(self._repository.load(group_id))
        finally:  # requests wait for it, also if the rows cannot be read
            self._notify_if_removed(group_id)
            for call in self._on_reloaded:
                call(group_id)
