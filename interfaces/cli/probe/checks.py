"""Each step that a client takes towards one address, until one fails, and why."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator, Sequence

from interfaces.cli.probe import advertised, authenticating
from interfaces.cli.probe.connecting import reach
from interfaces.cli.probe.finding import PROBLEM, Finding
from interfaces.cli.probe.pace import Pace
from interfaces.cli.probe.talking import Protocol, talk
from interfaces.cli.probe.wire_client import NoAnswer
from interfaces.terminal.addresses import Address

#: Of a command that waits meanwhile.
_SHORT_STEP_S = 1.0


def why_silent(
    addresses: Sequence[Address], protocol: Protocol, timeout_s: float, limit_s: float
) -> tuple[str, bool]:
    """The problems of a client that gets no answer, and whether it may get one later.

    What could not be checked within `limit_s` may be in order.
    """
    pace = Pace(min(_SHORT_STEP_S, timeout_s), time.monotonic() + limit_s)
    found: list[list[Finding]] = []
    for address in addresses:
        findings = () if pace.is_over else checked(address, protocol, pace, every_node=False)
        found.append([one for one in findings if one.level == PROBLEM])
    may_pass = any(all(one.may_pass for one in problems) for problems in found)
    return "; ".join(one.text() for problems in found for one in problems), may_pass


def checked(
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
