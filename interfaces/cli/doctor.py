"""`ottla doctor`: each step that a client takes, until one fails, and why."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed
from interfaces.cli.output import show
from interfaces.cli.probe.checks import checked
from interfaces.cli.probe.finding import PROBLEM, Finding, ok, problem
from interfaces.cli.probe.pace import Pace

_STEP_S = 3.0


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


def _findings(clients: Clients) -> Iterator[Finding]:
    protocol = clients.protocol()
    pace = Pace(min(_STEP_S, clients.timeout_s))
    healthy = False
    for address in clients.addresses():
        problems = 0
        for finding in checked(address, protocol, pace, every_node=True):
            problems += finding.level == PROBLEM
            yield finding
        healthy = healthy or not problems
    if healthy:
        yield _whole_client(clients)


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
