from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from domain.security.acl import AclBinding


class AclRepository(Protocol):
    """Changes are staged, and persisted by the next commit."""

    def load(self) -> list[AclBinding]: ...

    def save(self, binding: AclBinding, exists: bool) -> None:
        """Creates or deletes it."""
        ...

    def follow(self, changed: Callable[[list[AclBinding]], None]) -> None:
        """Calls back with all ACLs when another broker has changed some."""
        ...
