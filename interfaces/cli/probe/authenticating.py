"""Whether a broker wants its clients to authenticate (SASL), and how: told by its handshake."""

from __future__ import annotations

from interfaces.cli.probe.finding import Finding, ok, problem
from interfaces.cli.probe.pace import Pace
from interfaces.cli.probe.talking import Protocol
from interfaces.cli.probe.wire_client import NoAnswer, TimedOut, WireClient
from interfaces.terminal.addresses import Address

_UNSUPPORTED_MECHANISM = 33


def mechanisms(address: Address, protocol: Protocol, pace: Pace) -> list[str]:
    """Those that it offers; none: clients do not authenticate here.

    Raises TimedOut.
    """
    from interfaces.kafka.wire.messages.sasl_handshake import (
        SaslHandshakeRequest,
        SaslHandshakeResponse,
    )

    try:
        with WireClient(address, pace.timeout_s, protocol.context) as client:
            request = SaslHandshakeRequest(mechanism=protocol.mechanism)
            answer = client.ask(request, 1, SaslHandshakeResponse)
    except (TimedOut, TimeoutError):
        raise TimedOut from None
    except (NoAnswer, OSError):
        return []
    return answer.mechanisms if answer.error_code in (0, _UNSUPPORTED_MECHANISM) else []


def wanted(address: Address, protocol: Protocol, failure: Exception, pace: Pace) -> Finding:
    """The broker answers ApiVersions and not Metadata."""
    try:
        offered = mechanisms(address, protocol, pace)
    except TimedOut as silence:
        return _stalls(address, silence)
    security = "SASL_SSL" if protocol.context is not None else "SASL_PLAINTEXT"
    if not offered:
        return problem(
            f"{address} answers ApiVersions and nothing else ({failure})",
            "its log says why; it may want clients to authenticate: -X "
            f"security.protocol={security}, sasl.mechanism, sasl.username and sasl.password",
            may_pass=True,
        )
    return problem(
        f"{address} wants clients to authenticate with SASL ({', '.join(offered)}), and the "
        "client does not",
        f"-X security.protocol={security} -X sasl.mechanism={offered[0]} -X sasl.username=NAME "
        "-X sasl.password=PASSWORD",
    )


def check(address: Address, protocol: Protocol, pace: Pace) -> Finding:
    """What the client asks for beside what there is."""
    try:
        offered = mechanisms(address, protocol, pace)
    except TimedOut as silence:
        return _stalls(address, silence)
    if not offered:
        plain = "SSL" if protocol.context is not None else "PLAINTEXT"
        return problem(
            f"{address} does not let clients authenticate with SASL, and the client wants to",
            f"use -X security.protocol={plain} and leave out sasl.*, or the port of the listener "
            "that has SASL",
        )
    if protocol.mechanism not in offered:
        return problem(
            f"{address} offers the SASL mechanisms {', '.join(offered)}, and the client wants "
            f"{protocol.mechanism}",
            f"-X sasl.mechanism={offered[0]}",
        )
    return ok(f"{address} offers the SASL mechanisms {', '.join(offered)}")


def _stalls(address: Address, silence: TimedOut) -> Finding:
    return problem(
        f"{address} answers ApiVersions, but does not answer the SASL handshake ({silence})",
        "the broker may be overloaded: its log says why",
        may_pass=True,
    )
