from __future__ import annotations

from typing import Protocol

from domain.security.acl import AclBinding


class AclRepository(Protocol):
    """Changes are staged, and persisted by the next commit."""

    def load(self) -> list[AclBinding]: ...

    def save(self, binding: AclBinding, exists: bool) -> None:
        """Creates or deletes it."""
        ...
