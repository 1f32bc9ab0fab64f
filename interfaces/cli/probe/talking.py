"""Talking to whatever takes connections at a port: is it a broker, and of which versions?"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING

from interfaces.cli.probe.finding import Finding, ok, problem
from interfaces.cli.probe.first_bytes import TLS, speaker
from interfaces.cli.probe.holder import holder
from interfaces.cli.probe.pace import Pace
from interfaces.cli.probe.wire_client import NoAnswer, TimedOut, WireClient
from interfaces.terminal.addresses import USUAL_PORT, Address, is_loopback
from interfaces.terminal.reachable import reason_of
from interfaces.terminal.tls import speaks_tls

if TYPE_CHECKING:
    from interfaces.kafka.wire.messages.api_versions import ApiVersionsResponse

_UNSUPPORTED_VERSION = 35
#: The names and least versions of what a client of message format v2 cannot do without (0.11).
_NEEDED = {0: ("Produce", 3), 1: ("Fetch", 4), 3: ("Metadata", 4)}
#: What the oldest clients that are around know at the most.
_OLDEST_CLIENTS = {0: 7, 1: 10, 3: 7}
#: Those options of librdkafka that this probe applies as well.
_SSL_OPTIONS = {
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.endpoint.identification.algorithm",
    "ssl.key.location",
    "ssl.key.password",
}
_SAYS_SSL = "-X security.protocol=SSL (and ssl.ca.location=FILE for a certificate of your own)"


class Protocol:
    """What the options of the client say it should speak."""

    def __init__(self, options: Mapping[str, str]) -> None:
        wanted = options.get("security.protocol", "plaintext").lower()
        self.sasl = wanted.startswith("sasl")
        # What librdkafka takes without being told.
        named = options.get("sasl.mechanism", options.get("sasl.mechanisms", "GSSAPI"))
        self.mechanism = named.upper()
        #: False: what the probe sees of TLS is not what librdkafka would see.
        self.is_whole = all(o in _SSL_OPTIONS for o in options if o.startswith("ssl."))
        self.context: ssl.SSLContext | None = None
        if wanted.endswith("ssl"):
            self.context = ssl.create_default_context(cafile=options.get("ssl.ca.location"))
            verify = options.get("enable.ssl.certificate.verification", "true") == "true"
            if not verify or options.get("ssl.endpoint.identification.algorithm") == "none":
                self.context.check_hostname = False
            if not verify:
                self.context.verify_mode = ssl.CERT_NONE
            if "ssl.certificate.location" in options:
                self.context.load_cert_chain(
                    options["ssl.certificate.location"],
                    options.get("ssl.key.location"),
                    options.get("ssl.key.password"),
                )


def talk(address: Address, protocol: Protocol, pace: Pace) -> tuple[bool, list[Finding]]:
    """Whether a broker answers, and what was found."""
    from interfaces.kafka.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse

    try:
        with WireClient(address, pace.timeout_s, protocol.context) as client:
            answer = client.ask(ApiVersionsRequest(), 0, ApiVersionsResponse)
    except ssl.SSLError as failure:
        found = _tls_failed(address, failure, pace)
        return False, [found if protocol.is_whole else found._replace(may_pass=True)]
    except NoAnswer as failure:
        found = _no_broker(address, failure, protocol, pace)
        # A broker that is only slow may be behind a proxy that answers the probes.
        is_slow = isinstance(failure, TimedOut)
        return False, [found._replace(may_pass=True) if is_slow else found]
    except OSError as failure:
        return False, [
            problem(
                f"{address} ends the connection ({reason_of(failure)})",
                "see the broker's log",
                may_pass=True,
            )
        ]
    return True, _versions(address, answer)


def _versions(address: Address, answer: ApiVersionsResponse) -> list[Finding]:
    known = {one.api_key: (one.min_version, one.max_version) for one in answer.api_keys}
    if answer.error_code == _UNSUPPORTED_VERSION or not known:
        return [
            problem(
                f"{address} does not tell its versions (error {answer.error_code})",
                "it is no broker of Kafka 0.10 or later: use another one",
            )
        ]
    said = ", ".join(
        f"{name} {known[key][0]}-{known[key][1]}"
        for key, (name, _) in _NEEDED.items()
        if key in known
    )
    findings = [ok(f"{address} speaks Kafka's protocol: {len(known)} APIs, {said}")]
    for key, (name, least) in _NEEDED.items():
        if key not in known:
            findings.append(
                problem(
                    f"{address} does not serve {name} to clients",
                    "it is a controller, or a proxy for something else: connect to a broker",
                )
            )
        elif known[key][1] < least:
            findings.append(
                problem(
                    f"{address} knows {name} up to version {known[key][1]} only, current clients "
                    f"begin at {least}",
                    "it is older than Kafka 0.11: upgrade the broker, or use a client of its time",
                )
            )
        elif known[key][0] > _OLDEST_CLIENTS[key]:
            findings.append(
                problem(
                    f"{address} knows {name} from version {known[key][0]} on only",
                    "upgrade the client",
                )
            )
    return findings


def _tls_failed(address: Address, failure: ssl.SSLError, pace: Pace) -> Finding:
    if isinstance(failure, ssl.SSLCertVerificationError):
        return problem(
            f"{address} has a certificate that is not trusted ({failure.verify_message})",
            "give the authority's certificate with -X ssl.ca.location=FILE, or a name that is in "
            "the certificate with -b",
        )
    if not speaks_tls(address, pace.timeout_s):
        return problem(
            f"{address} does not speak TLS, and the client does",
            "leave out security.protocol (or -X security.protocol=PLAINTEXT), or use the TLS port",
        )
    return problem(
        f"the TLS handshake with {address} fails ({failure.reason or failure})",
        "it may want a certificate of the client: -X ssl.certificate.location and ssl.key.location",
    )


def _no_broker(address: Address, failure: NoAnswer, protocol: Protocol, pace: Pace) -> Finding:
    who = speaker(failure.received)
    if who == TLS or (
        protocol.context is None and who is None and speaks_tls(address, pace.timeout_s)
    ):
        return problem(f"{address} speaks TLS, and the client does not", _SAYS_SSL)
    who = who or speaker(_answer_to_http(address, pace.timeout_s))
    if who is not None:
        return problem(
            f"{address} is {who}, no broker{_held_by(address)}",
            f"use the broker's port, which is {USUAL_PORT} if nobody has said otherwise",
        )
    return problem(
        f"{address} takes the connection and then does not answer as a broker "
        f"({failure}){_held_by(address)}",
        "if it is a broker, its log says why; a proxy or a port mapping without anybody behind it "
        "does this too",
        may_pass=True,
    )


def _held_by(address: Address) -> str:
    if not is_loopback(address.host):
        return ""
    who = holder(address.port)
    return f"; {who} listens there" if who else ""


def _answer_to_http(address: Address, timeout_s: float) -> bytes:
    try:
        with socket.create_connection(address, timeout_s) as plain:
            plain.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return plain.recv(256)
    except OSError:
        return b""
