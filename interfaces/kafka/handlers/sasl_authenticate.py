"""SaslAuthenticate (key 36), versions 0-2: a token of the client, and the broker's response.

1  the lifetime of the session (KIP-368)
2  flexible

The response to a failed authentication has a message (KIP-152), and comes after
`connection.failed.authentication.delay.ms`; then the connection is closed.
"""

from __future__ import annotations

from application.security.conversation import Authenticated, Outcome, Refused
from domain.security.errors import IllegalSaslState, SaslAuthenticationFailed
from interfaces.kafka.requests.call import Call
from interfaces.kafka.requests.sasl import Sasl
from interfaces.kafka.wire.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)

#: The log has `authentication_failed` for it, at a limited rate.
EXPECTED = (SaslAuthenticationFailed,)


def handle(request: SaslAuthenticateRequest, call: Call) -> None:
    sasl = call.peer.sasl
    if sasl is None or not sasl.in_conversation:
        raise IllegalSaslState("SaslAuthenticate request received after successful authentication")
    step = sasl.evaluate(bytes(request.auth_bytes), call.correlation_id)
    call.respond_later(step, lambda outcome: _response(outcome, sasl, call))


def _response(outcome: Outcome, sasl: Sasl, call: Call) -> SaslAuthenticateResponse:
    if isinstance(outcome, Refused):
        code = call.code(SaslAuthenticationFailed())
        message = outcome.message or _general_message(sasl)
        return SaslAuthenticateResponse(error_code=code, error_message=message)
    lifetime_ms = sasl.lifetime_ms if isinstance(outcome, Authenticated) else 0
    return SaslAuthenticateResponse(
        error_message="", auth_bytes=outcome.token, session_lifetime_ms=lifetime_ms
    )


def _general_message(sasl: Sasl) -> str:
    what = "re-authentication" if sasl.again else "authentication"
    return (
        f"Authentication failed during {what} due to invalid credentials with SASL mechanism "
        f"{sasl.mechanism}"
    )
