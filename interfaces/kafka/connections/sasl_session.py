"""SaslSession: a connection of a listener with SASL (KIP-43, KIP-152, KIP-368).

Until the client is authenticated, its requests are small, and its time is limited, as it is when
the client authenticates again. A failure gets its response after a delay, in which the connection
is not read; then the connection is closed.
"""

from __future__ import annotations

import asyncio
from functools import partial

from application.ports.pending import Pending, resolved
from application.ports.scheduler import Timer
from application.security.authentication import ListenerAuthentication
from application.security.conversation import (
    MALFORMED,
    Authenticated,
    Challenge,
    Conversation,
    Outcome,
    Refused,
    mechanism_changed,
)
from interfaces.kafka.connections.session import Session
from interfaces.kafka.connections.shared import Shared
from interfaces.kafka.requests.sasl import Sasl
from interfaces.kafka.wire.headers import MIN_REQUEST_BYTES

#: The shortest token of a client that sends tokens without a header.
_MIN_TOKEN_BYTES = 2
_MS_NS = 1_000_000
#: As in Kafka, authenticating again costs a client no more than this often.
_AGAIN_AFTER_NS = 1_000 * _MS_NS


class SaslSession(Session):
    def __init__(
        self,
        shared: Shared,
        connection_id: int,
        listener: str,
        authentication: ListenerAuthentication,
    ) -> None:
        super().__init__(shared, connection_id, listener)
        self._authentication = authentication
        self.mechanisms = authentication.mechanisms
        self.mechanism = ""
        self.authenticated = self.again = self.raw_tokens = False
        self.lifetime_ms = 0
        self._expires_ms = 0
        self._begun_again_ns = 0
        self._conversation: Conversation | None = None
        #: Of every token of the conversation.
        self._refusal: Refused | None = None
        self._login_timer: Timer | None = None
        self.connection.max_frame_bytes = min(
            shared.broker.config.sasl_server_max_receive_size, shared.max_frame_bytes
        )
        self.begin = shared.authentication_gate.begin

    @property
    def sasl(self) -> Sasl:  # type: ignore[override]
        return self

    # ---- the transport's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if not self.closing:
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_timer()
        self._conversation = None
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        timeout_ms = self.broker.config.connection_authentication_timeout_ms
        self._login_timer = self._shared.scheduler.after_ms(timeout_ms, self._timed_out)

    def _timed_out(self) -> None:
        self._login_timer = None
        self.reject("authentication_timeout", "the client did not authenticate in time")

    def _end_timer(self) -> None:
        timer, self._login_timer = self._login_timer, None
        if timer is not None:
            timer.cancel()

    # ---- the handlers' side

    @property
    def in_conversation(self) -> bool:
        return self._conversation is not None

    def is_expired(self) -> bool:
        return 0 < self._expires_ms <= self._authentication.clock.monotonic_ms()

    def note_expired(self) -> None:
        self._authentication.expired += 1

    def may_begin(self, version: int, received_ns: int) -> bool:
        if not self.authenticated:
            return True
        soon = received_ns - self._begun_again_ns < _AGAIN_AFTER_NS
        return version > 0 and self.lifetime_ms > 0 and not soon

    def begin_conversation(self, mechanism: str, version: int, received_ns: int) -> None:
        self.again = self.authenticated
        if self.again:
            self._begun_again_ns = received_ns
            self._start_timer()
            if mechanism != self.mechanism:
                self._refusal = mechanism_changed(self.mechanism, mechanism)
        self.mechanism = mechanism
        self._conversation = self._authentication.begin(mechanism, self)
        if version == 0:
            self.raw_tokens = True
            self.connection.min_frame_bytes = _MIN_TOKEN_BYTES

    def evaluate(self, token: bytes, correlation_id: int) -> Pending[Outcome]:
        step: Pending[Outcome] = Pending()
        assert self._conversation is not None
        evaluated = self._refusal or self._evaluated(self._conversation, token)
        outcome = evaluated if isinstance(evaluated, Pending) else resolved(evaluated)
        outcome.then(partial(self._stepped, correlation_id, step), step.fail)
        return step

    def _evaluated(self, conversation: Conversation, token: bytes) -> Outcome | Pending[Outcome]:
        """Before the login a fault must not be cheaper for the client than a wrong password."""
        try:
            return conversation.evaluate(token)
        except Exception as fault:
            return MALFORMED._replace(detail=type(fault).__name__)

    def _stepped(self, correlation_id: int, step: Pending[Outcome], outcome: Outcome) -> None:
        if self.closing:
            return
        if isinstance(outcome, Authenticated):
            outcome = self._unchanged(outcome)
        if isinstance(outcome, Refused):
            refused = outcome
            self.refuse(refused, correlation_id).then(lambda _: step.resolve(refused))
            return
        if not isinstance(outcome, Challenge):
            self._succeeded(outcome)
        step.resolve(outcome)

    def _unchanged(self, outcome: Authenticated) -> Outcome:
        """A client that authenticates again must be the same user."""
        before, now = self.principal, outcome.principal
        if not self.again or before == now:
            return outcome
        return Refused(
            "principal_changed",
            "Cannot change principals during re-authentication from "
            f"{before.kind}.{before.name}: {now.kind}.{now.name}",
        )

    def _succeeded(self, outcome: Authenticated) -> None:
        self._authentication.note(self.mechanism, succeeded=True, again=self.again)
        self.lifetime_ms = self._authentication.lifetime_ms(self.mechanism, outcome)
        now_ms = self._authentication.clock.monotonic_ms()
        self._expires_ms = self.lifetime_ms and now_ms + self.lifetime_ms
        self._conversation = None
        self.principal = outcome.principal
        self.authenticated, self.raw_tokens = True, False
        self.connection.min_frame_bytes = MIN_REQUEST_BYTES
        self.connection.max_frame_bytes = self._shared.max_frame_bytes
        self._end_timer()
        if not self.lifetime_ms:
            self.begin = self._dispatch.begin

    def refuse(self, refused: Refused, correlation_id: int) -> Pending[None]:
        if self.mechanism:
            self._authentication.note(self.mechanism, succeeded=False, again=self.again)
        user = "" if self._conversation is None else self._conversation.user
        self._shared.closing_log.unauthenticated(
            self.client, refused, user, self.mechanism, correlation_id
        )
        self._end_timer()
        self._mute()
        delayed: Pending[None] = Pending()
        key = object()
        delay_ms = self.broker.config.connection_failed_authentication_delay_ms
        self._throttles[key] = self._shared.scheduler.after_ms(
            delay_ms, partial(self._refused, key, delayed)
        )
        return delayed

    def _refused(self, key: object, delayed: Pending[None]) -> None:
        del self._throttles[key]
        delayed.resolve(None)
        self.close("authentication_failed", expected=True)
