"""Whether a broker requires SASL, its mechanisms, and whether it accepts the client."""

from __future__ import annotations

from interfaces.cli.probe.finding import Finding, ok, problem
from interfaces.cli.probe.pace import Pace
from interfaces.cli.probe.sasl import AuthenticationFailed
from interfaces.cli.probe.talking import Protocol
from interfaces.cli.probe.wire_client import NoResponse, TimedOut, WireClient
from interfaces.terminal.addresses import Address

_UNSUPPORTED_MECHANISM = 33


def check(
    address: Address, protocol: Protocol, pace: Pace, failure: Exception | None = None
) -> Finding:
    """Compares the mechanisms of the client and the broker.

    `failure`: of a Metadata request, where the client does not authenticate.
    """
    try:
        offered = _mechanisms(address, protocol, pace)
    except TimedOut as silence:
        return problem(
            f"{address} responds to ApiVersions, but not to the SASL handshake ({silence})",
            "the broker may be overloaded: see its log",
            may_pass=True,
        )
    names = ", ".join(offered)
    if failure is not None and offered:
        return problem(
            f"{address} requires SASL authentication ({names}), but the client does not use it",
            f"-X security.protocol={protocol.sasl_name} -X sasl.mechanism={offered[0]} "
            "-X sasl.username=NAME -X sasl.password=PASSWORD",
        )
    if failure is not None:
        return problem(
            f"{address} responds to ApiVersions, but not to Metadata ({failure})",
            "see its log; it may require SASL: -X security.protocol="
            f"{protocol.sasl_name}, sasl.mechanism, sasl.username and sasl.password",
            may_pass=True,
        )
    if not offered:
        return problem(
            f"{address} does not support SASL, but the client uses it",
            f"-X security.protocol={protocol.plain_name}, or the port of the SASL listener",
        )
    if protocol.mechanism not in offered:
        return problem(
            f"{address} offers the SASL mechanisms {names}, but the client uses "
            f"{protocol.mechanism}",
            f"-X sasl.mechanism={offered[0]}",
        )
    return ok(f"{address} offers the SASL mechanisms {names}")


def failed(address: Address, protocol: Protocol, pace: Pace, failure: Exception) -> Finding:
    """Of a Metadata request."""
    if not protocol.sasl:
        return check(address, protocol, pace, failure)
    if isinstance(failure, AuthenticationFailed):
        what = f"{address} does not accept the client: {failure}"
        return problem(what, "check -X sasl.username and sasl.password")
    what = f"{address} does not respond to the client that authenticates ({failure})"
    return problem(what, "the broker may be overloaded: see its log", may_pass=True)


def _mechanisms(address: Address, protocol: Protocol, pace: Pace) -> list[str]:
    """Empty: the listener has no SASL. Raises TimedOut."""
    from interfaces.kafka.wire.messages.sasl_handshake import (
        SaslHandshakeRequest,
        SaslHandshakeResponse,
    )

    try:
        with WireClient(address, pace.timeout_s, protocol.context) as client:
            request = SaslHandshakeRequest(mechanism=protocol.mechanism)
            response = client.send(request, 1, SaslHandshakeResponse)
    except (TimedOut, TimeoutError):
        raise TimedOut from None
    except (NoResponse, OSError):
        return []
    return response.mechanisms if response.error_code in (0, _UNSUPPORTED_MECHANISM) else []
