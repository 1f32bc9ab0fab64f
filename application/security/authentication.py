"""Authentication: the SASL mechanisms of a listener, and what became of the attempts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import cast

from application.ports.clock import Clock
from application.ports.password_hashing import PasswordClient, PasswordHashing
from application.ports.pending import Pending
from application.ports.token_validator import TokenValidator
from application.security.conversation import Authenticated, Conversation
from application.security.oauthbearer import OAuthBearerConversation
from application.security.plain import PlainConversation, is_password
from application.security.scram import ScramConversation
from application.security.users import Users
from domain.configs.listener_security import ADMIN, ListenerSecurity
from domain.security.jaas import plain_users
from domain.security.scram import MECHANISMS

PLAIN, OAUTHBEARER = "PLAIN", "OAUTHBEARER"
#: Of HTTP.
BASIC = "BASIC"

#: Makes the validator of a listener's tokens.
NewTokenValidator = Callable[[ListenerSecurity], TokenValidator]


class ListenerAuthentication:
    """Of one listener with SASL."""

    def __init__(self, authentication: Authentication, security: ListenerSecurity) -> None:
        self._parts = authentication
        self.clock = authentication.clock
        self._security = security
        is_http = security.name == ADMIN
        enabled = cast("tuple[str, ...]", security.value("sasl.enabled.mechanisms"))
        self.mechanisms = _of_http(enabled) if is_http else enabled
        jaas = cast("str | None", security.value("sasl.jaas.config", PLAIN))
        self._passwords = plain_users(jaas) if is_http or PLAIN in self.mechanisms else {}
        #: By mechanism, of first authentications and of later ones.
        self.successful: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.successful_again: Counter[str] = Counter()
        self.failed_again: Counter[str] = Counter()
        self.expired = 0

    @cached_property
    def tokens(self) -> TokenValidator:
        return self._parts.new_token_validator(self._security)

    def begin(self, mechanism: str, client: PasswordClient) -> Conversation:
        """`mechanism` is one of `mechanisms`."""
        parts = self._parts
        if mechanism == PLAIN:
            return PlainConversation(self._passwords, parts.users, parts.hashing, client)
        if mechanism in MECHANISMS:
            return ScramConversation(MECHANISMS[mechanism], parts.users, parts.new_nonce())
        return OAuthBearerConversation(self.tokens)

    def verify(self, user: str, password: str, client: PasswordClient) -> Pending[bool | None]:
        """By the users of `sasl.jaas.config` and of SCRAM; takes as long for each outcome.

        None: it was not verified (`PasswordHashing.verify`).
        """
        known = is_password(self._passwords, user, password)
        salted = self._parts.hashing.verify(password, self._parts.users.all_of(user), client)
        return salted.map(lambda verified: known or verified)

    def lifetime_ms(self, mechanism: str, authenticated: Authenticated) -> int:
        """After this time the client must have authenticated again; 0: never (KIP-368)."""
        max_reauth_ms = cast(int, self._security.value("connections.max.reauth.ms", mechanism))
        expires_at_ms = authenticated.expires_at_ms
        if expires_at_ms is None:
            return max_reauth_ms
        left_ms = max(1, expires_at_ms - self.clock.now_ms())
        return min(left_ms, max_reauth_ms) if max_reauth_ms else left_ms

    def note(self, mechanism: str, succeeded: bool, again: bool) -> None:
        if again:
            (self.successful_again if succeeded else self.failed_again)[mechanism] += 1
        else:
            (self.successful if succeeded else self.failed)[mechanism] += 1


def _of_http(enabled: tuple[str, ...]) -> tuple[str, ...]:
    return (BASIC, OAUTHBEARER) if OAUTHBEARER in enabled else (BASIC,)


class Authentication:
    def __init__(
        self,
        users: Users,
        hashing: PasswordHashing,
        new_nonce: Callable[[], str],
        new_token_validator: NewTokenValidator,
        clock: Clock,
    ) -> None:
        self.users = users
        self.hashing = hashing
        self.new_nonce = new_nonce
        self.new_token_validator = new_token_validator
        self.clock = clock
        #: By name.
        self.listeners: dict[str, ListenerAuthentication] = {}

    def of(self, security: ListenerSecurity) -> ListenerAuthentication | None:
        """None: the listener has no SASL."""
        if not security.protocol.needs_sasl:
            return None
        if security.name not in self.listeners:
            self.listeners[security.name] = ListenerAuthentication(self, security)
        return self.listeners[security.name]
