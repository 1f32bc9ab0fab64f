"""SASL of a connection without librdkafka: PLAIN and SCRAM."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from interfaces.cli.probe.wire_client import NoResponse, WireClient

if TYPE_CHECKING:
    from interfaces.cli.probe.talking import Protocol

_HANDSHAKE_VERSION, _AUTHENTICATE_VERSION = 1, 2
_SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
MECHANISMS = ("PLAIN", *_SCRAM)

#: Sends bytes of the client, and returns those of the broker.
Exchange = Callable[[bytes], bytes]


class AuthenticationFailed(NoResponse):
    """The broker refuses the client, or is not the one that knows its password."""


def authenticate(client: WireClient, protocol: Protocol) -> None:
    """Raises NoResponse."""
    from interfaces.kafka.wire.messages.sasl_authenticate import (
        SaslAuthenticateRequest,
        SaslAuthenticateResponse,
    )
    from interfaces.kafka.wire.messages.sasl_handshake import (
        SaslHandshakeRequest,
        SaslHandshakeResponse,
    )

    handshake = SaslHandshakeRequest(mechanism=protocol.mechanism)
    response = client.send(handshake, _HANDSHAKE_VERSION, SaslHandshakeResponse)
    if response.error_code:
        offered = ", ".join(response.mechanisms)
        raise AuthenticationFailed(
            f"the broker does not support {protocol.mechanism}, but {offered or 'no mechanism'}"
        )

    def exchange(message: bytes) -> bytes:
        request = SaslAuthenticateRequest(auth_bytes=message)
        found = client.send(request, _AUTHENTICATE_VERSION, SaslAuthenticateResponse)
        if found.error_code:
            raise AuthenticationFailed(found.error_message or f"error {found.error_code}")
        return bytes(found.auth_bytes)

    if protocol.mechanism in _SCRAM:
        _scram(protocol, exchange)
    else:
        exchange(f"\0{protocol.username}\0{protocol.password}".encode())


def _scram(protocol: Protocol, exchange: Exchange) -> None:
    from scramp import ScramClient, ScramException

    conversation = ScramClient([protocol.mechanism], protocol.username, protocol.password)
    try:
        conversation.set_server_first(exchange(conversation.get_client_first().encode()).decode())
        conversation.set_server_final(exchange(conversation.get_client_final().encode()).decode())
    except (ScramException, ValueError) as refusal:
        raise AuthenticationFailed(f"{protocol.mechanism}: {refusal}") from None
