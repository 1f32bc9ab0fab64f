"""Groups: which groups there are, and that what they become is kept before anybody hears of it.

A change is applied when it is decided, so that the next request is judged rightly, and its answer
leaves with the commit that keeps it. When that commit fails the group is made again from what was
kept, and whoever waits for it is told to ask again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from application.commits import Commits
from application.ports.group_repository import GroupRepository
from application.state.runtime import Done, Runtime
from domain.errors import StorageFailed
from domain.groups.classic.group import ClassicGroup
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.group import Changes, Group, GroupChange, GroupDeleted, GroupKind

#: Hears of changes before they are applied; what it returns is called when they are kept.
Listener = Callable[[Changes], Callable[[], None] | None]


_GROUPS: dict[GroupKind, type[Group]] = {
    group.kind: group for group in (ClassicGroup, ConsumerGroup)
}


class Groups:
    def __init__(self, repository: GroupRepository, commits: Commits) -> None:
        self._repository = repository
        self._commits = commits
        self._by_id: dict[str, Group] = {}
        self._when_lost: list[Callable[[str], None]] = []
        self._listener: Listener | None = None
        self._when_gone: list[Callable[[str], None]] = []
        self.runtime: Runtime[str, GroupChange] = Runtime(self)
        self._apply(repository.load())

    def __iter__(self) -> Iterator[Group]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def find(self, group_id: str) -> Group | None:
        return self._by_id.get(group_id)

    def put(self, group: Group) -> None:
        """A group that is new, or that takes the place of one of the other kind."""
        self._by_id[group.group_id] = group

    def remove(self, group_id: str) -> None:
        """It was never kept, or its end is being kept."""
        self._by_id.pop(group_id, None)
        self._tell_if_gone(group_id)

    def when_gone(self, call: Callable[[str], None]) -> None:
        """Tells of every group that is no more, by its id, before anybody else can look for it."""
        self._when_gone.append(call)

    def _tell_if_gone(self, group_id: str) -> None:
        for call in self._when_gone:
            if group_id not in self._by_id:
                call(group_id)

    def when_lost(self, call: Callable[[str], None]) -> None:
        """Tells of every group that could not keep what it had become, by its id."""
        self._when_lost.append(call)

    def listen(self, listener: Listener) -> None:
        """From now on; what was loaded at start is no news."""
        self._listener = listener

    def _heard(self, changes: Changes) -> Callable[[], None] | None:
        return None if self._listener is None else self._listener(changes)

    def apply(self, changes: Changes) -> None:
        """What is not kept."""
        tell = self._heard(changes)
        self._apply(changes)
        if tell is not None:
            tell()

    def _apply(self, changes: Iterable[GroupChange]) -> None:
        for change in changes:
            group = self._by_id.get(change.group_id)
            if isinstance(change, GroupDeleted):
                self._by_id.pop(change.group_id, None)
            elif group is None:
                group = self._by_id[change.group_id] = _GROUPS[change.kind](change.group_id)
            if group is not None:
                group.apply(change)

    def keep(self, group_id: str, changes: Changes, then: Done) -> None:
        """Applies the changes now; `then` is called when they are durable, or lost."""
        tell = self._heard(changes)
        if tell is None:
            self.runtime.persist(group_id, changes, then)
            return

        def done(failure: StorageFailed | None) -> None:
            if failure is None:
                tell()
            then(failure)

        self.runtime.persist(group_id, changes, done)

    def is_kept(self, group_id: str) -> bool:
        """Whether the group is what a restart would find."""
        return group_id not in self.runtime

    @property
    def all_are_kept(self) -> bool:
        return not self.runtime.decisions

    def when_kept(self, group_id: str, call: Done) -> None:
        """Calls back when all that the group has become by now is durable."""
        self.runtime.when_durable(group_id, call)

    # ---- Aggregates

    def decided(self, group_id: str, changes: Changes) -> None:
        self._apply(changes)
        self._tell_if_gone(group_id)

    def stage(self, group_id: str, changes: Changes, done: Done) -> None:
        for change in changes:
            self._repository.save(change)
        self._commits.when_committed(done)

    def committed(self, group_id: str, changes: Changes) -> None:
        """They were applied when they were decided."""

    def lost(self, group_id: str, changes: Changes, first: bool) -> None:
        """Reads the group again, once for all that is lost together."""
        if not first:
            return
        self._by_id.pop(group_id, None)
        self._apply(self._repository.load(group_id))
        self._tell_if_gone(group_id)
        for call in self._when_lost:
            call(group_id)
