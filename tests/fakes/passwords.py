"""Passwords that wait to be verified."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from application.ports.password_hashing import PasswordClient
from application.ports.pending import Pending
from domain.security.scram import ScramCredential
from infrastructure.security.password_hashing import InlineHashing


class PasswordWaiter:
    """Implements application.ports.password_hashing.PasswordClient."""

    def __init__(self, address: str = "192.0.2.7") -> None:
        self.address = address
        self.closing = False


#: A client, and the outcome that it waits for.
Waiting = tuple[PasswordClient, Pending[bool | None]]


class SlowHashing(InlineHashing):
    """Passwords wait until the test resolves them."""

    def __init__(self, waits: Callable[[Waiting], None]) -> None:
        self._waits = waits

    def verify(
        self, password: str, credentials: Sequence[ScramCredential], client: PasswordClient
    ) -> Pending[bool | None]:
        pending: Pending[bool | None] = Pending()
        self._waits((client, pending))
        return pending
