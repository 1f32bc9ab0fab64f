from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from application.ports.pending import Pending
from domain.security.scram import ScramCredential, ScramMechanism


class PasswordClient(Protocol):
    """The connection that waits for its password to be verified."""

    @property
    def address(self) -> str:
        """The IP address of the client."""
        ...

    @property
    def closing(self) -> bool:
        """No response will be sent."""
        ...


class PasswordHashing(Protocol):
    """Salts passwords, which takes milliseconds, beside the loop."""

    def verify(
        self, password: str, credentials: Sequence[ScramCredential], client: PasswordClient
    ) -> Pending[bool | None]:
        """Whether the password is that of any credential; takes as long for each outcome.

        None: it was not verified, because too many passwords wait, or the client has gone.
        """
        ...

    def salted(
        self, mechanism: ScramMechanism, password: str, iterations: int
    ) -> Pending[tuple[bytes, bytes]]:
        """A new salt, and the salted password of a credential."""
        ...
