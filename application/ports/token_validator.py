from __future__ import annotations

from typing import NamedTuple, Protocol

from application.ports.pending import Pending


class ValidToken(NamedTuple):
    #: The claim of `sasl.oauthbearer.sub.claim.name`.
    principal_name: str
    expires_at_ms: int


class InvalidToken(NamedTuple):
    #: For the log; it has no part of the token.
    detail: str


class TokenValidator(Protocol):
    """Verifies JSON web tokens (RFC 7519) for OAUTHBEARER."""

    def validate(self, token: str) -> Pending[ValidToken | InvalidToken]:
        """Later, if the keys of the issuer have to be fetched."""
        ...
