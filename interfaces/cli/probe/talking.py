"""Asks a port for its API versions: is it a Kafka broker, and which versions does it serve?"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from interfaces.cli.probe.finding import Finding, ok, problem
from interfaces.cli.probe.pace import Pace
from interfaces.cli.probe.wire_client import NoResponse, TimedOut, WireClient
from interfaces.terminal.addresses import USUAL_PORT, Address
from interfaces.terminal.reachable import reason_of
from interfaces.terminal.tls import speaks_tls, tls_context

if TYPE_CHECKING:
    from interfaces.kafka.wire.messages.api_versions import ApiVersion

#: APIs and versions that clients of message format v2 require (Kafka 0.11).
_REQUIRED = {0: ("Produce", 3), 1: ("Fetch", 4), 3: ("Metadata", 4)}
#: Options of librdkafka that this probe applies as well.
_SSL_OPTIONS = {
    "ssl.ca.location",
    "ssl.ca.pem",
    "ssl.certificate.location",
    "ssl.endpoint.identification.algorithm",
    "ssl.key.location",
    "ssl.key.password",
}
#: How other servers respond to unknown bytes, or greet.
_OTHERS = ((b"HTTP/", "an HTTP server"), (b"\x15\x03", "a TLS server"), (b"SSH-", "an SSH server"))
_TLS = "a TLS server"
#: A Kafka listener of Ottla responds to HTTP with this text.
_OTTLA = b"This port serves the Kafka protocol"
_REST = re.compile(rb"HTTP is served at (https?://[^,\s]+)")


class Protocol:
    """TLS and SASL as the client options say."""

    def __init__(self, options: Mapping[str, str]) -> None:
        protocol = options.get("security.protocol", "plaintext").lower()
        self.sasl = protocol.startswith("sasl")
        # GSSAPI is the default of librdkafka.
        mechanism = options.get("sasl.mechanism", options.get("sasl.mechanisms", "GSSAPI"))
        self.mechanism = mechanism.upper()
        self.username = options.get("sasl.username", "")
        self.password = options.get("sasl.password", "")
        #: False: options that only librdkafka applies may change the result of a TLS handshake.
        self.is_complete = all(o in _SSL_OPTIONS for o in options if o.startswith("ssl."))
        self.context = tls_context(options) if protocol.endswith("ssl") else None

    @property
    def name(self) -> str:
        return self.over(self.plain_name)

    def over(self, transport: str) -> str:
        """The security protocol with PLAINTEXT or SSL."""
        return f"SASL_{transport}" if self.sasl else transport

    @property
    def plain_name(self) -> str:
        """The security protocol without SASL."""
        return "SSL" if self.context is not None else "PLAINTEXT"

    @property
    def sasl_name(self) -> str:
        return f"SASL_{self.plain_name}"


def talk(address: Address, protocol: Protocol, pace: Pace) -> tuple[bool, list[Finding]]:
    """Returns whether a broker responds, and the findings."""
    try:
        with WireClient(address, pace.timeout_s, protocol.context) as client:
            served = client.read_versions()
    except ssl.SSLError as failure:
        found = _tls_failed(address, failure, protocol, pace)
        return False, [found if protocol.is_complete else found._replace(may_pass=True)]
    except NoResponse as failure:
        found = _no_broker(address, failure, protocol, pace)
        # A slow broker may be behind a proxy that responds to the probes.
        is_slow = isinstance(failure, TimedOut)
        return False, [found._replace(may_pass=True) if is_slow else found]
    except OSError as failure:
        what = f"{address} closes the connection ({reason_of(failure)})"
        return False, [problem(what, "see the log of the broker", may_pass=True)]
    return True, [_versions(address, served)]


def _versions(address: Address, apis: Sequence[ApiVersion]) -> Finding:
    known = {one.api_key: (one.min_version, one.max_version) for one in apis}
    missing = [
        f"{name} {least}"
        for key, (name, least) in _REQUIRED.items()
        if key not in known or known[key][1] < least
    ]
    if missing:
        return problem(
            f"{address} speaks Kafka's protocol, but does not serve {', '.join(missing)}",
            "it is a controller, a proxy, or older than Kafka 0.11: connect to a broker",
        )
    served = ", ".join(
        f"{name} {known[key][0]}-{known[key][1]}" for key, (name, _) in _REQUIRED.items()
    )
    return ok(f"{address} speaks Kafka's protocol: {len(known)} APIs, {served}")


def _tls_failed(address: Address, failure: ssl.SSLError, protocol: Protocol, pace: Pace) -> Finding:
    if isinstance(failure, ssl.SSLCertVerificationError):
        return problem(
            f"the certificate of {address} is not trusted ({failure.verify_message})",
            "-X ssl.ca.location=FILE for the certificate of the authority, or -b with a name that "
            "is in the certificate",
        )
    if not speaks_tls(address, pace.timeout_s):
        return problem(
            f"{address} does not speak TLS, but the client does",
            f"-X security.protocol={protocol.over('PLAINTEXT')}, or the port of the TLS listener",
        )
    return problem(
        f"the TLS handshake with {address} fails ({failure.reason or failure})",
        "if the broker requires a client certificate: -X ssl.certificate.location and "
        "ssl.key.location",
    )


def _no_broker(address: Address, failure: NoResponse, protocol: Protocol, pace: Pace) -> Finding:
    other = _other_server(failure.received)
    if other == _TLS or (
        protocol.context is None and other is None and speaks_tls(address, pace.timeout_s)
    ):
        return problem(
            f"{address} speaks TLS, but the client does not",
            f"-X security.protocol={protocol.over('SSL')} (and ssl.ca.location=FILE for a private "
            "authority)",
        )
    other = other or _other_server(_response_to_http(address, pace.timeout_s))
    if other is not None:
        return problem(
            f"{address} is {other}, not a Kafka broker",
            f"use the port of the broker, {USUAL_PORT} by default",
        )
    return problem(
        f"{address} accepts connections, but does not respond as a Kafka broker ({failure})",
        "see the log of the broker; a proxy or port mapping without a broker behind it does this, "
        "too",
        may_pass=True,
    )


def _other_server(received: bytes) -> str | None:
    if _OTTLA in received:
        return None
    return next((name for start, name in _OTHERS if received.startswith(start)), None)


def rest_url(address: Address, timeout_s: float) -> str | None:
    """The URL of REST, which a Kafka listener of Ottla names in its response to HTTP."""
    found = _REST.search(_response_to_http(address, timeout_s))
    return None if found is None else found[1].decode(errors="replace")


def _response_to_http(address: Address, timeout_s: float) -> bytes:
    """A Kafka listener of Ottla does not log this request."""
    try:
        with socket.create_connection(address, timeout_s) as plain:
            plain.sendall(b"HEAD / HTTP/1.0\r\n\r\n")
            return plain.recv(4096)
    except OSError:
        return b""
