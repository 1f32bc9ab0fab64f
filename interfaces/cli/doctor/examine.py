"""`ottla doctor`: each step that a client takes, until one fails, and why."""

from __future__ import annotations

import argparse
import ssl
from collections.abc import Iterator

from interfaces.cli.client import Clients
from interfaces.cli.doctor import advertised, authenticating
from interfaces.cli.doctor.connecting import reach
from interfaces.cli.doctor.finding import PROBLEM, Finding, ok, problem
from interfaces.cli.doctor.talking import Protocol, talk
from interfaces.cli.failures import CommandFailed, NotUnderstood
from interfaces.cli.output import show
from interfaces.cli.wire_client import NoAnswer
from interfaces.terminal.addresses import Address

_STEP_S = 3.0
#: Of a command that waits meanwhile.
_SHORT_STEP_S = 1.0


def doctor(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    found: list[Finding] = []
    for finding in _findings(clients):
        found.append(finding)
        if parsed.output == "table":
            print(finding.line(), flush=True)
    if parsed.output != "table":
        rows = [{"level": one.level, "what": one.what, "remedy": one.remedy} for one in found]
        show(rows, parsed.output, "")
    return 1 if any(one.level == PROBLEM for one in found) else 0


def why_silent(clients: Clients) -> tuple[str, bool]:
    """The problems of a client that gets no answer, and whether it may get one later."""
    protocol = _protocol(clients)
    step_s = min(_SHORT_STEP_S, clients.timeout_s)
    found = [
        [f for f in _of_address(clients, address, protocol, step_s) if f.level == PROBLEM]
        for address in clients.addresses()
    ]
    may_pass = any(all(one.may_pass for one in problems) for problems in found)
    return "; ".join(one.text() for problems in found for one in problems), may_pass


def _protocol(clients: Clients) -> Protocol:
    try:
        return Protocol(clients.options)
    except (OSError, ValueError) as failure:
        raise NotUnderstood(f"-X: a certificate cannot be read: {failure}") from None


def _findings(clients: Clients) -> Iterator[Finding]:
    protocol = _protocol(clients)
    step_s = min(_STEP_S, clients.timeout_s)
    healthy = False
    for address in clients.addresses():
        problems = 0
        for finding in _of_address(clients, address, protocol, step_s):
            problems += finding.level == PROBLEM
            yield finding
        healthy = healthy or not problems
    if healthy:
        yield _whole_client(clients)


def _of_address(
    clients: Clients, address: Address, protocol: Protocol, step_s: float
) -> Iterator[Finding]:
    reached = reach(address, step_s)
    yield from reached.findings
    if not reached.hosts:
        return
    answers, findings = talk(address, protocol, step_s)
    yield from findings
    if not answers:
        return
    if protocol.sasl:
        # The rest is told by nobody else than the client library.
        yield authenticating.check(address, protocol, step_s)
        return
    try:
        said = advertised.told(address, protocol, step_s)
    except (NoAnswer, ssl.SSLError, OSError) as failure:
        yield authenticating.wanted(address, protocol, failure, step_s)
        return
    yield from advertised.check(address, said, protocol, step_s)


def _whole_client(clients: Clients) -> Finding:
    """The proof: an ordinary client."""
    clients.is_diagnosed = True
    try:
        metadata = clients.metadata(clients.admin())
    except CommandFailed as failure:
        why = str(failure).removesuffix(clients.advice())
        remedy = "check -X: security.protocol, sasl.* and ssl.* as the broker's listener wants them"
        if "authentication" in why.lower():
            remedy = "check -X sasl.username and sasl.password"
        return problem(f"a client cannot connect all the same: {why}", remedy)
    topics = len(metadata.topics)
    return ok(f"a client of librdkafka connects and sees {topics} topics")
