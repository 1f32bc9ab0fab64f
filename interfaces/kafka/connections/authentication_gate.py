"""AuthenticationGate: which requests a connection with SASL may send, before dispatch.

    before authentication      ApiVersions, SaslHandshake
    after SaslHandshake 1      SaslAuthenticate
    after SaslHandshake 0      tokens without a header
    after authentication       everything, until the session expires (KIP-368), or the next
                               SaslHandshake 1

Everything else closes the connection before it is decoded, as in Kafka.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from application.ports.pending import Pending
from application.security.conversation import Outcome, Refused
from interfaces.kafka.requests.apis import BY_KEY
from interfaces.kafka.requests.call import Call, CloseConnection, Peer
from interfaces.kafka.requests.dispatch import Dispatch, Routes
from interfaces.kafka.requests.sasl import SASL_AUTHENTICATE, SASL_HANDSHAKE
from interfaces.kafka.wire.headers import API_VERSIONS, unpack_fixed_header

_LENGTH_BYTES = 4


class Authenticating(Peer, Protocol):
    """A session with SASL, as the gate sees it."""

    authenticated: bool
    #: The client sends tokens without a header.
    raw_tokens: bool

    @property
    def in_conversation(self) -> bool: ...

    def is_expired(self) -> bool: ...

    def note_expired(self) -> None: ...

    def evaluate(self, token: bytes, correlation_id: int) -> Pending[Outcome]: ...


class AuthenticationGate:
    def __init__(self, dispatch: Dispatch, routes: Routes) -> None:
        self._dispatch = dispatch
        self._routes = routes

    def begin(
        self, frame: memoryview, peer: Authenticating, replies: deque[Call], received_ns: int
    ) -> None:
        if peer.raw_tokens:
            self._raw_token(frame, peer, replies, received_ns)
            return
        key = unpack_fixed_header(frame)[0]
        if peer.in_conversation or not peer.authenticated:
            _check_begins(key, peer)
        elif key != SASL_HANDSHAKE and peer.is_expired():
            peer.note_expired()
            raise CloseConnection(
                "session_expired",
                "the client did not authenticate again in time (connections.max.reauth.ms, or the "
                "lifetime of its token)",
            )
        self._dispatch.begin(frame, peer, replies, received_ns)

    def _raw_token(
        self, frame: memoryview, peer: Authenticating, replies: deque[Call], received_ns: int
    ) -> None:
        route = self._routes.find(SASL_AUTHENTICATE, 0)
        assert route is not None
        call = Call(peer, route, 0, len(frame) + _LENGTH_BYTES, received_ns)
        call.started_ns = call.decoded_ns = call.handled_ns = call.completed_ns = received_ns
        replies.append(call)
        call.pending = outcome = peer.evaluate(bytes(frame), 0)  # type: ignore[assignment]
        outcome.then(
            lambda step: call.respond_frame(_raw_response(step)),
            lambda fault: peer.failed(call, fault),
        )


def _check_begins(key: int, peer: Authenticating) -> None:
    expected = (SASL_AUTHENTICATE,) if peer.in_conversation else (API_VERSIONS, SASL_HANDSHAKE)
    if key not in expected:
        api = BY_KEY[key].title if key in BY_KEY else f"API {key}"
        detail = (
            f"the client sent {api} while it authenticated again"
            if peer.authenticated
            else f"the client sent {api} before it was authenticated: it needs security.protocol="
            "SASL_PLAINTEXT or SASL_SSL, and a sasl.mechanism"
        )
        raise CloseConnection("not_authenticated", detail)


def _raw_response(step: Outcome) -> bytes:
    """Nothing after a failure: the connection is closed."""
    if isinstance(step, Refused):
        return b""
    return len(step.token).to_bytes(_LENGTH_BYTES, "big") + step.token
