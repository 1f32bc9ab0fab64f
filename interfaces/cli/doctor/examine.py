"""`ottla doctor`: each step that a client takes, until one fails, and why."""

from __future__ import annotations

import argparse
import ssl
import time
from collections.abc import Iterator

from interfaces.cli.client import Clients
from interfaces.cli.doctor import advertised, authenticating
from interfaces.cli.doctor.connecting import reach
from interfaces.cli.doctor.finding import PROBLEM, Finding, ok, problem
from interfaces.cli.doctor.pace import Pace
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


def why_silent(clients: Clients, limit_s: float) -> tuple[str, bool]:
    """The problems of a client that gets no answer, and whether it may get one later.

    What could not be checked within `limit_s` may be in order.
    """
    protocol = _protocol(clients)
    pace = Pace(min(_SHORT_STEP_S, clients.timeout_s), time.monotonic() + limit_s)
    found: list[list[Finding]] = []
    for address in clients.addresses():
        checked = () if pace.is_over else _of_address(address, protocol, pace, every_node=False)
        found.append([one for one in checked if one.level == PROBLEM])
    may_pass = any(all(one.may_pass for one in problems) for problems in found)
    return "; ".join(one.text() for problems in found for one in problems), may_pass


def _protocol(clients: Clients) -> Protocol:
    try:
        return Protocol(clients.options)
    except (OSError, ValueError) as failure:
        raise NotUnderstood(f"-X: a certificate cannot be read: {failure}") from None


def _findings(clients: Clients) -> Iterator[Finding]:
    protocol = _protocol(clients)
    pace = Pace(min(_STEP_S, clients.timeout_s))
    healthy = False
    for address in clients.addresses():
        problems = 0
        for finding in _of_address(address, protocol, pace, every_node=True):
            problems += finding.level == PROBLEM
            yield finding
        healthy = healthy or not problems
    if healthy:
        yield _whole_client(clients)


def _of_address(
    address: Address, protocol: Protocol, pace: Pace, *, every_node: bool
) -> Iterator[Finding]:
    reached = reach(address, pace)
    yield from reached.findings
    if not reached.hosts:
        return
    answers, findings = talk(address, protocol, pace)
    yield from findings
    if not answers:
        return
    if protocol.sasl:
        # The rest is told by nobody else than the client library.
        yield authenticating.check(address, protocol, pace)
        return
    try:
        said = advertised.told(address, protocol, pace.timeout_s)
    except (NoAnswer, ssl.SSLError, OSError) as failure:
        yield authenticating.wanted(address, protocol, failure, pace)
        return
    yield from advertised.check(address, said, protocol, pace, every_node=every_node)


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
