"""SaslHandshake (key 17), versions 0-1: the client chooses a mechanism (KIP-43).

0  tokens follow without a header
1  tokens follow in SaslAuthenticate requests (KIP-152)

An authenticated client whose session expires begins again with it, once a second at most (KIP-368).
"""

from __future__ import annotations

from application.security.conversation import Refused
from domain.security.errors import IllegalSaslState, UnsupportedSaslMechanism
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.sasl_handshake import (
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)

#: The log has `authentication_failed` for them, at a limited rate.
EXPECTED = (UnsupportedSaslMechanism, IllegalSaslState)


def handle(request: SaslHandshakeRequest, call: Call) -> SaslHandshakeResponse | None:
    sasl = call.peer.sasl
    if sasl is None:
        call.peer.without_sasl(call.correlation_id)
    if sasl is None or not sasl.may_begin(call.version, call.received_ns):
        raise IllegalSaslState
    mechanisms = list(sasl.mechanisms)
    if request.mechanism in mechanisms:
        sasl.begin_conversation(request.mechanism, call.version, call.received_ns)
        return SaslHandshakeResponse(mechanisms=mechanisms)
    offered = f"the client requests {request.mechanism[:50]!r}, enabled: {', '.join(mechanisms)}"
    refused = Refused("unsupported_mechanism", detail=offered)
    call.respond_later(
        sasl.refuse(refused, call.correlation_id),
        lambda _: SaslHandshakeResponse(
            error_code=call.code(UnsupportedSaslMechanism()), mechanisms=mechanisms
        ),
    )
    return None
