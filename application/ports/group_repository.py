from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from domain.groups.group import GroupChange


class GroupRepository(Protocol):
    """Changes are staged, and persisted by the next commit."""

    def load(
        self, group_id: str | None = None, includes: Callable[[str], bool] | None = None
    ) -> Iterable[GroupChange]:
        """The persisted changes of all groups, of one, or of those that `includes` returns True
        for, in the order in which to apply them.
        """
        ...

    def save(self, change: GroupChange) -> None:
        """Stages the change, if the next start needs it."""
        ...
