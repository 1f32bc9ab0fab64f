from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from domain.security.scram import Credentials


class UserRepository(Protocol):
    """SCRAM credentials of users. Changes are staged, and persisted by the next commit."""

    def load(self) -> dict[str, Credentials]: ...

    def save(self, name: str, credentials: Credentials) -> None:
        """Replaces all credentials of the user; without any the row is deleted."""
        ...

    def follow(self, changed: Callable[[Mapping[str, Credentials]], None]) -> None:
        """Calls back with all credentials of the users that another broker has altered."""
        ...

    def decoy_secret(self) -> bytes | None:
        """Of this store, for the salts of unknown users; None: there is none yet."""
        ...

    def save_decoy_secret(self, secret: bytes) -> None: ...
