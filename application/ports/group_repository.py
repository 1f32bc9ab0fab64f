from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from domain.groups.group import GroupChange


class GroupRepository(Protocol):
    """Staged like everything else: what is saved here is kept by the next commit."""

    def load(self, group_id: str | None = None) -> Iterable[GroupChange]:
        """What is kept, of all groups or of one: applied in this order, it makes them again."""
        ...

    def save(self, change: GroupChange) -> None:
        """Keeps the change, or nothing where the next start can do without it."""
        ...
