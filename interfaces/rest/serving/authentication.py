"""Authenticates the client of a request: HTTP Basic or a Bearer token."""

from __future__ import annotations

import asyncio
import binascii
from base64 import b64decode

from application.ports.pending import Pending, resolved
from application.ports.request_log import REMEMBERED_CHARACTERS, ClientInfo
from application.security.authentication import BASIC, OAUTHBEARER
from application.security.conversation import MALFORMED, Authenticated, Outcome, Refused
from application.security.http_authentication import HttpAuthentication
from domain.security.principal import ANONYMOUS
from interfaces.rest.admin import Admin
from interfaces.rest.errors import RestError
from interfaces.rest.exchange import Exchange
from interfaces.rest.pending import value_of
from interfaces.rest.rights import is_open

UNAUTHENTICATED = 40101


async def authenticate(admin: Admin, exchange: Exchange, headers: dict[str, str]) -> None:
    """Sets the principal of the request; raises RestError."""
    by = admin.authentication
    # A preflight of CORS has no credentials, and no effect.
    if by is None or is_open(exchange.path) or exchange.method == "OPTIONS":
        return
    scheme, _, credential = headers.get("authorization", "").partition(" ")
    if not scheme and exchange.principal is not ANONYMOUS:
        return  # by its certificate
    if not scheme:
        raise _unauthorized(by, "log in: this server has admin.authentication = users")
    mechanism = OAUTHBEARER if scheme.lower() == "bearer" else BASIC
    user, pending = _evaluated(by, scheme.lower(), credential.strip())
    outcome = await value_of(pending)
    if isinstance(outcome, Authenticated):
        exchange.principal = outcome.principal
        return
    assert isinstance(outcome, Refused)
    software = headers.get("user-agent", "")[:REMEMBERED_CHARACTERS]
    client = ClientInfo(0, "admin", exchange.peer, None, 0, software)
    admin.refusals.unauthenticated(client, outcome, user, mechanism, exchange.correlation_id)
    await asyncio.sleep(admin.broker.config.connection_failed_authentication_delay_ms / 1000)
    raise _unauthorized(by, "user, password or token is not valid")


def _evaluated(
    by: HttpAuthentication, scheme: str, credential: str
) -> tuple[str, Pending[Outcome]]:
    """The user that the client claims to be, as far as it is known, and the outcome."""
    if scheme == "bearer":
        return "", by.bearer(credential)
    try:
        if scheme != "basic":
            raise ValueError
        user, colon, password = b64decode(credential, validate=True).decode().partition(":")
        if not colon:
            raise ValueError
    except (binascii.Error, ValueError):
        malformed: Outcome = MALFORMED
        return "", resolved(malformed)
    return user, by.basic(user, password)


def _unauthorized(by: HttpAuthentication, message: str) -> RestError:
    # A browser asks for user and password itself when it sees Basic.
    schemes = 'Basic realm="Ottla", charset="UTF-8"' + (", Bearer" if by.takes_tokens else "")
    return RestError(401, message, UNAUTHENTICATED, {"www-authenticate": schemes})
