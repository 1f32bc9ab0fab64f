"""HTTP: users by Basic (RFC 7617), tokens by Bearer (RFC 6750), and sessions after a login.

Basic verifies against the users with SCRAM credentials, and those of `sasl.jaas.config`. Each
request has the password, and salting it takes a millisecond, so verified passwords are cached: as a
hash with a key of this process, for a minute at most, until any user changes.
"""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import Callable
from functools import partial

from application.ports.clock import Clock
from application.ports.password_hashing import PasswordClient
from application.ports.pending import Pending, resolved
from application.ports.token_validator import InvalidToken, ValidToken
from application.security.authentication import BASIC, OAUTHBEARER, ListenerAuthentication
from application.security.conversation import (
    INVALID_CREDENTIALS,
    TOO_MANY_LOGINS,
    Authenticated,
    Outcome,
    Refused,
)
from application.security.http_sessions import HttpSessions
from application.security.plain import MAX_CREDENTIAL_BYTES
from application.security.users import Users
from domain.security.principal import Principal

CACHED_MS = 60_000
MAX_CACHED = 1000


class HttpAuthentication:
    def __init__(
        self,
        listener: ListenerAuthentication,
        users: Users,
        clock: Clock,
        new_secret: Callable[[], bytes],
    ) -> None:
        self._listener = listener
        self.users = users
        self._clock = clock
        self._cache_key = new_secret()
        self.sessions = HttpSessions(users, clock, new_secret)
        self._cached_revision = users.revision
        #: When a verified password expires, by its hash; the oldest first.
        self._verified: OrderedDict[bytes, int] = OrderedDict()

    @property
    def takes_tokens(self) -> bool:
        return OAUTHBEARER in self._listener.mechanisms

    def basic(self, user: str, password: str, client: PasswordClient) -> Pending[Outcome]:
        if not user or not password or "\0" in user + password:
            return self._noted(BASIC, resolved(INVALID_CREDENTIALS))
        secret = f"{user}\0{password}".encode()
        if len(secret) > MAX_CREDENTIAL_BYTES:
            return self._noted(BASIC, resolved(INVALID_CREDENTIALS))
        key = hmac.digest(self._cache_key, secret, "sha256")
        if self._is_cached(key):
            return resolved(Authenticated(Principal("User", user)))
        verified = self._listener.verify(user, password, client)
        # Users may change while the password is verified.
        then = partial(self._basic_outcome, user, key, self.users.revision)
        return self._noted(BASIC, verified.map(then))

    def _basic_outcome(
        self, user: str, key: bytes, revision: int, verified: bool | None
    ) -> Outcome:
        if verified is None:
            return TOO_MANY_LOGINS
        if not verified:
            return INVALID_CREDENTIALS
        self._drop_stale()
        if revision == self.users.revision:
            self._verified[key] = self._clock.now_ms() + CACHED_MS
            if len(self._verified) > MAX_CACHED:
                self._verified.popitem(last=False)
        return Authenticated(Principal("User", user))

    def _is_cached(self, key: bytes) -> bool:
        self._drop_stale()
        return key in self._verified

    def _drop_stale(self) -> None:
        if self._cached_revision != self.users.revision:
            self._verified.clear()
            self._cached_revision = self.users.revision
        now_ms = self._clock.now_ms()
        while self._verified and next(iter(self._verified.values())) <= now_ms:
            self._verified.popitem(last=False)

    def bearer(self, token: str) -> Pending[Outcome]:
        if not self.takes_tokens:
            return self._noted(OAUTHBEARER, resolved(Refused("unsupported_mechanism")))
        return self._noted(OAUTHBEARER, self._listener.tokens.validate(token).map(_token_outcome))

    def _noted(self, mechanism: str, outcome: Pending[Outcome]) -> Pending[Outcome]:
        return outcome.map(partial(self._note, mechanism))

    def _note(self, mechanism: str, outcome: Outcome) -> Outcome:
        self._listener.note(mechanism, isinstance(outcome, Authenticated), again=False)
        return outcome


def _token_outcome(validated: ValidToken | InvalidToken) -> Outcome:
    if isinstance(validated, InvalidToken):
        return Refused("invalid_token", None, validated.detail)
    principal = Principal("User", validated.principal_name)
    return Authenticated(principal, expires_at_ms=validated.expires_at_ms)
