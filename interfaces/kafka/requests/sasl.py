"""Sasl: the authentication of a connection, as the handlers of its two APIs see it."""

from __future__ import annotations

from typing import Protocol

from application.ports.pending import Pending
from application.security.conversation import Outcome, Refused

SASL_HANDSHAKE, SASL_AUTHENTICATE = 17, 36


class Sasl(Protocol):
    """A connection of a listener with SASL."""

    #: Those of the listener.
    mechanisms: tuple[str, ...]
    #: Of the mechanism that the client chose.
    mechanism: str
    #: The client has been authenticated before (KIP-368).
    again: bool
    #: After this time the client must have authenticated again; 0: never.
    lifetime_ms: int

    def may_begin(self, version: int, received_ns: int) -> bool:
        """Whether a SaslHandshake of this version may begin a conversation now."""

    def begin_conversation(self, mechanism: str, version: int, received_ns: int) -> None: ...

    @property
    def in_conversation(self) -> bool: ...

    def evaluate(self, token: bytes, correlation_id: int) -> Pending[Outcome]:
        """The next step; a refusal comes after `connection.failed.authentication.delay.ms`."""

    def refuse(self, refused: Refused, correlation_id: int) -> Pending[None]:
        """Resolved after the delay; the connection is closed when it has responded."""
