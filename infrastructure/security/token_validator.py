"""Tokens of OAUTHBEARER: JSON web tokens, verified with the keys of their issuer (PyJWT).

Imported by a broker with OAUTHBEARER only.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Any, cast

import jwt

from application.ports.clock import Clock
from application.ports.event_log import EventLog
from application.ports.pending import Pending, resolved
from application.ports.token_validator import InvalidToken, TokenValidator, ValidToken
from domain.configs.listener_security import ListenerSecurity
from infrastructure.security.key_sets import KeySets

#: No `none`, and no secrets that issuer and broker share.
_OF_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
ALGORITHMS = (*_OF_RSA, "ES256", "ES384", "ES512", "EdDSA")
_OAUTH = "sasl.oauthbearer."
#: A token cannot be larger than its request; this bounds the work on it.
MAX_TOKEN_CHARACTERS = 64 * 1024


class Claims:
    """What the settings require of the claims of any token."""

    def __init__(self, security: ListenerSecurity, clock: Clock) -> None:
        self._clock = clock
        self.audience = cast("tuple[str, ...]", security.value(f"{_OAUTH}expected.audience"))
        self.issuer = cast("str | None", security.value(f"{_OAUTH}expected.issuer"))
        self._scope = cast(str, security.value(f"{_OAUTH}scope.claim.name"))
        self._subject = cast(str, security.value(f"{_OAUTH}sub.claim.name"))
        self.skew_s = cast(int, security.value(f"{_OAUTH}clock.skew.seconds"))

    def checked(self, claims: Any) -> ValidToken | InvalidToken:
        """Of a token whose signature, times, audience and issuer are verified."""
        name, expires = claims.get(self._subject), claims.get("exp")
        if not isinstance(name, str) or not name.strip():
            return InvalidToken(f"the claim {self._subject} is missing or no text")
        scopes = claims.get(self._scope, [])
        scopes = scopes.split() if isinstance(scopes, str) else scopes
        if not isinstance(scopes, list) or not all(isinstance(one, str) for one in scopes):
            return InvalidToken(f"the claim {self._scope} is no text and no list of texts")
        scopes = [one.strip() for one in scopes]
        if "" in scopes or len(set(scopes)) < len(scopes):
            return InvalidToken(f"the claim {self._scope} has an empty or repeated scope")
        return ValidToken(name.strip(), int(float(expires) * 1000))


class SignedTokens:
    """Implements application.ports.token_validator.TokenValidator."""

    def __init__(self, claims: Claims, keys: KeySets) -> None:
        self._claims = claims
        self._keys = keys

    def validate(self, token: str) -> Pending[ValidToken | InvalidToken]:
        if len(token) > MAX_TOKEN_CHARACTERS:
            return resolved(InvalidToken("the token is too long"))
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.InvalidTokenError, RecursionError):
            return resolved(InvalidToken("it is no JSON web token"))
        key_id = header.get("kid")
        algorithm = header.get("alg")
        if algorithm not in ALGORITHMS:
            return resolved(InvalidToken("it is not signed with a public key"))
        return self._keys.find(key_id).map(partial(self._verified, token, algorithm))

    def _verified(
        self, token: str, algorithm: str, key: jwt.PyJWK | None
    ) -> ValidToken | InvalidToken:
        if key is None:
            return InvalidToken("the issuer has no such key")
        if not _is_for(algorithm, key):
            return InvalidToken("its key is for another algorithm")
        try:
            return self._claims.checked(self._decoded(token, algorithm, key))
        except Exception as invalid:  # PyJWT raises any for malformed claims
            return InvalidToken(_REASONS.get(type(invalid), "the signature is wrong"))

    def _decoded(self, token: str, algorithm: str, key: jwt.PyJWK) -> dict[str, Any]:
        return jwt.decode(
            token,
            key.key,
            algorithms=[algorithm],
            audience=self._claims.audience or None,
            issuer=self._claims.issuer,
            leeway=self._claims.skew_s,
            options={
                "require": ["exp", "iat"],
                "verify_aud": bool(self._claims.audience),
                "verify_sub": False,  # the name may be in another claim
            },
        )


def _is_for(algorithm: str, key: jwt.PyJWK) -> bool:
    """A key of RSA without `alg` is for all of RSA, as in Kafka; PyJWT takes it for RS256 only."""
    if key.key_type == "RSA" and not key._jwk_data.get("alg"):
        return algorithm in _OF_RSA
    return key.algorithm_name == algorithm


_REASONS: dict[type[Exception], str] = {
    jwt.ExpiredSignatureError: "it is expired",
    jwt.ImmatureSignatureError: "it is not valid yet",
    jwt.InvalidAudienceError: "its audience is another one",
    jwt.InvalidIssuerError: "its issuer is another one",
    jwt.MissingRequiredClaimError: "it has no exp, iat, iss or aud",
    jwt.InvalidIssuedAtError: "its iat is no number",
    jwt.DecodeError: "it is no JSON web token",
}


class UnsecuredTokens:
    """Tokens without a signature (`sasl.oauthbearer.unsecured.tokens`), as Kafka's default."""

    def __init__(self, claims: Claims, clock: Clock) -> None:
        self._claims = claims
        self._clock = clock

    def validate(self, token: str) -> Pending[ValidToken | InvalidToken]:
        return resolved(self._validated(token))

    def _validated(self, token: str) -> ValidToken | InvalidToken:
        parts = token.split(".")
        if len(parts) != 3 or parts[2]:
            return InvalidToken("it is signed, and unsecured tokens are expected")
        try:
            header, claims = (json.loads(_decoded(part)) for part in parts[:2])
            if header["alg"] != "none":
                return InvalidToken("it is signed, and unsecured tokens are expected")
            expires, begins = float(claims["exp"]), float(claims.get("nbf", 0))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
            return InvalidToken("it is no JSON web token with exp")
        if not isfinite(expires * 1000):  # in milliseconds, as it is used
            return InvalidToken("its times are no numbers")
        now_s, skew_s = self._clock.now_ms() / 1000, self._claims.skew_s
        if expires + skew_s <= now_s:
            return InvalidToken("it is expired")
        if begins - skew_s > now_s:
            return InvalidToken("it is not valid yet")
        return self._claims.checked(claims)


def _decoded(part: str) -> bytes:
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def token_validator(
    security: ListenerSecurity,
    clock: Clock,
    events: EventLog,
    to_loop: Callable[[Callable[[], None]], None],
) -> TokenValidator:
    claims = Claims(security, clock)
    if security.value(f"{_OAUTH}unsecured.tokens"):
        return UnsecuredTokens(claims, clock)
    return SignedTokens(claims, KeySets.of_listener(security, clock, events, to_loop))
