"""Sessions of users who logged in with the console's page.

They are in memory: a broker that restarts has none. A session ends when it was not used for a
while, some hours after the login, with a logout, and when the credentials of its user change.
"""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

from application.ports.clock import Clock
from application.security.users import Users
from domain.security.principal import Principal
from domain.security.scram import Credentials

IDLE_MS = 30 * 60_000
LIFETIME_MS = 12 * 60 * 60_000
MAX_SESSIONS = 1000
#: One user must not end the sessions of all others.
MAX_SESSIONS_OF_USER = 100


class HttpSession(NamedTuple):
    principal: Principal
    #: What a page that the broker served knows, and others cannot read.
    csrf_token: str
    #: Those of the login; none for a user of `sasl.jaas.config`.
    credentials: Credentials
    #: By the monotonic clock, as the next one.
    expires_at_ms: int
    last_used_ms: int

    def accepts(self, csrf_token: str) -> bool:
        return hmac.compare_digest(csrf_token.encode(), self.csrf_token.encode())


class HttpSessions:
    def __init__(self, users: Users, clock: Clock, new_secret: Callable[[], bytes]) -> None:
        self._users = users
        self._clock = clock
        self._new_secret = new_secret
        #: By the hash of the id, which only the browser has; the one not used for longest first.
        self._sessions: OrderedDict[bytes, HttpSession] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(self, user: str, credentials: Credentials) -> str | None:
        """Returns the id of a new session, whose user has authenticated with these credentials.

        None: the user has changed since.
        """
        if credentials is not self._users.credentials(user):
            return None
        self._drop_idle()
        principal = Principal("User", user)
        own = [key for key, one in self._sessions.items() if one.principal == principal]
        if len(own) >= MAX_SESSIONS_OF_USER:
            del self._sessions[own[0]]
        elif len(self._sessions) >= MAX_SESSIONS:
            self._sessions.popitem(last=False)
        session_id = self._new_secret().hex()
        now_ms = self._clock.monotonic_ms()
        self._sessions[_key(session_id)] = HttpSession(
            principal,
            self._new_secret().hex(),
            credentials,
            now_ms + LIFETIME_MS,
            now_ms,
        )
        return session_id

    def use(self, session_id: str) -> HttpSession | None:
        """None: there is no such session, or no longer."""
        self._drop_idle()
        key = _key(session_id)
        session = self._sessions.get(key)
        if session is None:
            return None
        now_ms = self._clock.monotonic_ms()
        same_user = session.credentials is self._users.credentials(session.principal.name)
        if session.expires_at_ms <= now_ms or not same_user:
            del self._sessions[key]
            return None
        self._sessions[key] = session._replace(last_used_ms=now_ms)
        self._sessions.move_to_end(key)
        return session

    def end(self, session_id: str) -> None:
        self._sessions.pop(_key(session_id), None)

    def _drop_idle(self) -> None:
        since_ms = self._clock.monotonic_ms() - IDLE_MS
        while self._sessions and next(iter(self._sessions.values())).last_used_ms <= since_ms:
            self._sessions.popitem(last=False)


def _key(session_id: str) -> bytes:
    return sha256(session_id.encode()).digest()
