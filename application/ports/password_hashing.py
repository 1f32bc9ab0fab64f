from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from application.ports.pending import Pending
from domain.security.scram import ScramCredential, ScramMechanism


class PasswordHashing(Protocol):
    """Salts passwords, which takes milliseconds, beside the loop."""

    def verify(self, password: str, credentials: Sequence[ScramCredential]) -> Pending[bool]:
        """Whether the password is that of any credential; takes as long for each outcome."""
        ...

    def salted(
        self, mechanism: ScramMechanism, password: str, iterations: int
    ) -> Pending[tuple[bytes, bytes]]:
        """A new salt, and the salted password of a credential."""
        ...
