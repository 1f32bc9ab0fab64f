"""Every step of a client towards one address, until one fails."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator, Sequence

from interfaces.cli.probe import advertised, authenticating
from interfaces.cli.probe.connecting import reach
from interfaces.cli.probe.finding import PROBLEM, Finding, note
from interfaces.cli.probe.pace import Pace
from interfaces.cli.probe.sasl import MECHANISMS
from interfaces.cli.probe.talking import Protocol, talk
from interfaces.cli.probe.wire_client import NoResponse
from interfaces.terminal.addresses import Address

#: The timeout of a step within another command.
_SHORT_STEP_S = 1.0


def why_silent(
    addresses: Sequence[Address], protocol: Protocol, timeout_s: float, limit_s: float
) -> tuple[str, bool]:
    """Returns the problems of a client without a response, and whether they may pass.

    Steps after `limit_s` are left out.
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
    if not reached.is_open:
        return
    responds, findings = talk(address, protocol, pace)
    yield from findings
    if not responds:
        return
    if protocol.sasl:
        offered = authenticating.check(address, protocol, pace)
        yield offered
        if offered.level == PROBLEM:
            return
        if protocol.mechanism not in MECHANISMS:
            # Only librdkafka authenticates by them: it checks the rest.
            yield note(f"advertised addresses are not checked with {protocol.mechanism}")
            return
    try:
        cluster = advertised.fetch_cluster(address, protocol, pace.timeout_s)
    except (NoResponse, ssl.SSLError, OSError) as failure:
        yield authenticating.failed(address, protocol, pace, failure)
        return
    yield from advertised.check(address, cluster, protocol, pace, every_node=every_node)
