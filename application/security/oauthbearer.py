r"""OAUTHBEARER (RFC 7628, KIP-255): a signed token instead of a password.

client         n,,^Aauth=Bearer TOKEN^A^A     ^A is the byte 1
server         empty, or {"status":"invalid_token"}
client         ^A                             after an error; the authentication fails
"""

from __future__ import annotations

import re

from application.ports.pending import Pending
from application.ports.token_validator import InvalidToken, TokenValidator, ValidToken
from application.security.conversation import (
    MALFORMED,
    Authenticated,
    Challenge,
    Outcome,
    Refused,
)
from domain.security.principal import Principal

_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_INITIAL = re.compile(
    rf"n,(?:a=(?P<authzid>{_NAME}))?,\x01(?P<pairs>(?:[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01)*)\x01"
)
_BEARER = re.compile(r"bearer +(?P<token>[-_.~+/a-zA-Z0-9]+=*)", re.IGNORECASE)
_ERROR = '{"status":"invalid_token"}'
_ERROR_RECEIVED = b"\x01"


class OAuthBearerConversation:
    __slots__ = ("_invalid", "_validator", "user")

    def __init__(self, validator: TokenValidator) -> None:
        self.user = ""
        self._validator = validator
        #: The token is not valid, and the client has the error.
        self._invalid: InvalidToken | None = None

    def evaluate(self, token: bytes) -> Outcome | Pending[Outcome]:
        if self._invalid is not None:
            message = _ERROR if token == _ERROR_RECEIVED else None
            return Refused("invalid_token", message, self._invalid.detail)
        found = _INITIAL.fullmatch(token.decode("latin-1"))
        if found is None:
            return MALFORMED
        pairs = [one.split("=", 1) for one in found["pairs"].split("\x01") if one]
        bearer = _BEARER.fullmatch(dict(map(tuple, pairs)).get("auth", ""))
        if bearer is None:
            return MALFORMED
        authorization_id = (found["authzid"] or "").replace("=2C", ",").replace("=3D", "=")
        return self._validator.validate(bearer["token"]).map(
            lambda validated: self._outcome(validated, authorization_id)
        )

    def _outcome(self, validated: ValidToken | InvalidToken, authorization_id: str) -> Outcome:
        if isinstance(validated, InvalidToken):
            self._invalid = validated
            return Challenge(_ERROR.encode())
        self.user = validated.principal_name
        if authorization_id not in ("", self.user):
            return Refused(
                "authorization_id",
                "Authentication failed: Client requested an authorization id "
                f"({authorization_id}) that is different from the token's principal name "
                f"({self.user})",
            )
        principal = Principal("User", self.user)
        return Authenticated(principal, expires_at_ms=validated.expires_at_ms)
