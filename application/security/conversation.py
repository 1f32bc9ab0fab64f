"""Conversation: one authentication by a SASL mechanism, without I/O. The outcomes of its steps."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from application.ports.pending import Pending
from domain.security.principal import Principal


class Challenge(NamedTuple):
    """The conversation goes on with the next token of the client."""

    token: bytes


class Authenticated(NamedTuple):
    principal: Principal
    #: The last one for the client.
    token: bytes = b""
    #: The wall clock when the credential expires; None: it does not.
    expires_at_ms: int | None = None


class Refused(NamedTuple):
    #: A reason of `authentication_failed` (application/ports/events.py).
    reason: str
    #: For the client; None: Kafka's general message, which does not say what is wrong.
    message: str | None = None
    #: For the log; nothing secret.
    detail: str = ""


Outcome = Challenge | Authenticated | Refused
#: Unknown user and wrong password: the client cannot tell which.
INVALID_CREDENTIALS = Refused("invalid_credentials")
TOO_MANY_LOGINS = Refused("too_many_logins")
MALFORMED = Refused("malformed_token")
NO_SASL = Refused(
    "no_sasl",
    detail="the client began SASL authentication, and this listener has none: set "
    "security.protocol=PLAINTEXT or SSL in the client",
)
#: Kafka's message of several mechanisms.
OTHER_IDENTITY = Refused(
    "authorization_id",
    "Authentication failed: Client requested an authorization id that is different from username",
)


def mechanism_changed(before: str, now: str) -> Refused:
    return Refused(
        "mechanism_changed",
        f"SASL mechanism '{now}' requested by client is not supported for re-authentication of "
        f"mechanism '{before}'",
    )


class Conversation(Protocol):
    #: The user that the client claims to be, as far as it is known.
    user: str

    def evaluate(self, token: bytes) -> Outcome | Pending[Outcome]: ...
