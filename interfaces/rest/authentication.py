"""Authenticates the client of a request: HTTP Basic, a Bearer token, or the cookie of a login."""

from __future__ import annotations

import asyncio
import binascii
from base64 import b64decode

from starlette.requests import HTTPConnection

from application.ports.pending import Pending, resolved
from application.ports.request_log import REMEMBERED_CHARACTERS, ClientInfo
from application.security.authentication import BASIC, OAUTHBEARER
from application.security.conversation import MALFORMED, Authenticated, Outcome, Refused
from application.security.http_authentication import HttpAuthentication
from application.security.http_sessions import HttpSession
from domain.security.principal import ANONYMOUS
from interfaces.rest.admin import Admin
from interfaces.rest.errors import UNAUTHENTICATED, RestError
from interfaces.rest.exchange import SAFE, Exchange
from interfaces.rest.pending import value_of
from interfaces.rest.rights import is_open
from interfaces.rest.session_cookie import SessionCookie

WITHOUT_CSRF_TOKEN = 40305
CSRF_HEADER = "x-csrf-token"
#: A login, from anybody.
MAX_OPEN_BODY_BYTES = 16 * 1024


async def authenticate(admin: Admin, exchange: Exchange, headers: dict[str, str]) -> None:
    """Sets the principal of the request; raises RestError."""
    by = admin.authentication
    # A preflight of CORS has no credentials, and no effect.
    if by is None or exchange.method == "OPTIONS":
        return
    if is_open(exchange.path):
        exchange.max_body_bytes = MAX_OPEN_BODY_BYTES
        return
    scheme, _, credential = headers.get("authorization", "").partition(" ")
    if scheme:
        mechanism = OAUTHBEARER if scheme.lower() == "bearer" else BASIC
        user, pending = _evaluated(by, exchange, scheme.lower(), credential.strip())
        await _accept(admin, exchange, headers, mechanism, user, pending)
    elif (session := _session(by, exchange)) is not None:
        if exchange.method not in SAFE and not session.accepts(headers.get(CSRF_HEADER, "")):
            message = f"with a cookie, {CSRF_HEADER} must be the csrf_token of GET /session"
            raise RestError(403, message, WITHOUT_CSRF_TOKEN)
        exchange.principal = session.principal
        exchange.session = session
        exchange.is_logged_in = lambda: _session(by, exchange) is not None
    elif exchange.principal is ANONYMOUS:  # and not the user of a certificate
        message = "log in: this server has admin.authentication = users"
        raise _unauthorized(by, headers, message)


async def log_in(
    admin: Admin, exchange: Exchange, headers: dict[str, str], user: str, password: str
) -> str:
    """Returns the id of a new session; raises RestError."""
    by = admin.authentication
    if by is None:
        raise RestError(400, "there are no users: admin.authentication is none", 40002)
    credentials = by.users.credentials(user)
    await _accept(admin, exchange, headers, BASIC, user, by.basic(user, password, exchange))
    # An id from before the login, which somebody else may know, is never used again.
    log_out(by, exchange)
    session_id = by.sessions.begin(user, credentials)
    if session_id is None:
        raise _unauthorized(by, headers, "the user changed during the login")
    exchange.session = by.sessions.use(session_id)
    return session_id


def log_out(by: HttpAuthentication, exchange: Exchange) -> None:
    session_id = _cookie(exchange)
    if session_id is not None:
        by.sessions.end(session_id)


def _session(by: HttpAuthentication, exchange: Exchange) -> HttpSession | None:
    session_id = _cookie(exchange)
    return None if session_id is None else by.sessions.use(session_id)


def _cookie(exchange: Exchange) -> str | None:
    request = HTTPConnection(exchange.scope)
    return SessionCookie.of(request).id_in(request)


async def _accept(
    admin: Admin,
    exchange: Exchange,
    headers: dict[str, str],
    mechanism: str,
    user: str,
    pending: Pending[Outcome],
) -> None:
    users, clock = admin.broker.security.users, admin.clock
    credentials = users.credentials(user)
    outcome = await value_of(pending)
    if isinstance(outcome, Authenticated):
        exchange.principal, expires_at_ms = outcome.principal, outcome.expires_at_ms
        exchange.is_logged_in = lambda: (
            users.credentials(user) is credentials
            and (expires_at_ms is None or clock.now_ms() < expires_at_ms)
        )
        return
    assert isinstance(outcome, Refused)
    assert admin.authentication is not None
    software = headers.get("user-agent", "")[:REMEMBERED_CHARACTERS]
    client = ClientInfo(0, "admin", exchange.peer, None, 0, software)
    admin.refusals.unauthenticated(client, outcome, user, mechanism, exchange.correlation_id)
    await asyncio.sleep(admin.broker.config.connection_failed_authentication_delay_ms / 1000)
    what = "the token" if mechanism == OAUTHBEARER else "user or password"
    why = f"{what} is not valid"
    if outcome.reason == "unsupported_mechanism":
        why = "this scheme of Authorization is not enabled; WWW-Authenticate has those that are"
    raise _unauthorized(admin.authentication, headers, why)


def _evaluated(
    by: HttpAuthentication, exchange: Exchange, scheme: str, credential: str
) -> tuple[str, Pending[Outcome]]:
    """The user that the client claims to be, as far as it is known, and the outcome."""
    if scheme == "bearer":
        return "", by.bearer(credential)
    if scheme != "basic":
        refused: Outcome = Refused("unsupported_mechanism")
        return "", resolved(refused)
    try:
        user, colon, password = b64decode(credential, validate=True).decode().partition(":")
        if not colon:
            raise ValueError
    except (binascii.Error, ValueError):
        malformed: Outcome = MALFORMED
        return "", resolved(malformed)
    return user, by.basic(user, password, exchange)


def _unauthorized(by: HttpAuthentication, headers: dict[str, str], message: str) -> RestError:
    # A browser that sees Basic asks for user and password itself, before a page's script does.
    is_script = headers.get("x-requested-with") == "XMLHttpRequest"
    schemes = ["Session" if is_script else 'Basic realm="Ottla", charset="UTF-8"']
    if by.takes_tokens:
        schemes.append("Bearer")
    return RestError(401, message, UNAUTHENTICATED, {"www-authenticate": ", ".join(schemes)})
