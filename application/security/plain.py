"""PLAIN (RFC 4616): user and password as text.

The users are those of `sasl.jaas.config`, as in Kafka. If it names none, the users with SCRAM
credentials can authenticate by PLAIN, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import partial
from hmac import compare_digest

from application.ports.password_hashing import PasswordClient, PasswordHashing
from application.ports.pending import Pending, resolved
from application.security.conversation import (
    OTHER_IDENTITY,
    TOO_MANY_LOGINS,
    Authenticated,
    Outcome,
    Refused,
)
from application.security.users import Users
from domain.security.principal import Principal

_USERNAME_MISSING = Refused("malformed_token", "Authentication failed: username not specified")
_PASSWORD_MISSING = Refused("malformed_token", "Authentication failed: password not specified")
_INVALID = Refused("invalid_credentials", "Authentication failed: Invalid username or password")
_TOO_MANY_LOGINS = TOO_MANY_LOGINS._replace(message=_INVALID.message)
#: Of user and password that would wait to be salted; longer ones are refused before any work.
MAX_CREDENTIAL_BYTES = 4096


class PlainConversation:
    __slots__ = ("_client", "_hashing", "_passwords", "_users", "user")

    def __init__(
        self,
        passwords: Mapping[str, str],
        users: Users,
        hashing: PasswordHashing,
        client: PasswordClient,
    ) -> None:
        """`passwords` of `sasl.jaas.config`."""
        self.user = ""
        self._passwords = passwords
        self._users = users
        self._hashing = hashing
        self._client = client

    def evaluate(self, token: bytes) -> Outcome | Pending[Outcome]:
        parts = token.decode(errors="replace").split("\0")
        if len(parts) != 3:
            expected = f"Invalid SASL/PLAIN response: expected 3 tokens, got {len(parts)}"
            return Refused("malformed_token", expected)
        authorization_id, self.user, password = parts
        if not self.user:
            return _USERNAME_MISSING
        if not password:
            return _PASSWORD_MISSING
        identical = authorization_id in ("", self.user)
        return self._verified(password).map(partial(_outcome, self.user, identical))

    def _verified(self, password: str) -> Pending[bool | None]:
        if self._passwords:
            return resolved(is_password(self._passwords, self.user, password))
        if len(f"{self.user}{password}".encode()) > MAX_CREDENTIAL_BYTES:
            return resolved(False)
        return self._hashing.verify(password, self._users.all_of(self.user), self._client)


def is_password(passwords: Mapping[str, str], user: str, password: str) -> bool:
    """Hashes of equal length: the comparison takes the same time for each user and password."""
    expected = passwords.get(user)
    return compare_digest(_hash(password), _hash(expected or "")) and expected is not None


def _outcome(user: str, identical: bool, verified: bool | None) -> Outcome:
    if verified is None:
        return _TOO_MANY_LOGINS
    if not verified:
        return _INVALID
    return Authenticated(Principal("User", user)) if identical else OTHER_IDENTITY


def _hash(password: str) -> bytes:
    return hashlib.sha256(password.encode()).digest()
