"""Whether anybody listens: librdkafka would try for long where it is plain at once."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable
from typing import NamedTuple

from interfaces.terminal.addresses import Address

PROBE_S = 3.0


class NobodyListens(Exception):
    """At any of the addresses; it says why, in one line."""

    def __init__(self, why: str, may_pass: bool) -> None:
        super().__init__(why)
        self.may_pass = may_pass


class Unreachable(NamedTuple):
    reason: str
    #: A later attempt may succeed.
    may_pass: bool

    def __str__(self) -> str:
        return self.reason


def first_reachable(
    addresses: Iterable[Address], timeout_s: float = PROBE_S, what: str = "broker"
) -> Address:
    reasons = []
    may_pass = False
    for address in addresses:
        reason = why_not(address, timeout_s)
        if reason is None:
            return address
        reasons.append(f"{address}: {reason}")
        may_pass |= reason.may_pass
    raise NobodyListens(f"no {what} at {'; '.join(reasons)}", may_pass)


def why_not(address: Address, timeout_s: float) -> Unreachable | None:
    """Why no connection can be made; None: one can."""
    deadline = time.monotonic() + timeout_s
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as failure:
        why = f"the name cannot be resolved ({reason_of(failure)})"
        return Unreachable(why, may_pass(failure))
    reason = Unreachable("no address", False)
    for family, kind, protocol, _, place in found:
        with socket.socket(family, kind, protocol) as probe:
            probe.settimeout(max(0.1, deadline - time.monotonic()))
            try:
                probe.connect(place)
                return None
            except OSError as failure:
                passes = reason.may_pass or may_pass(failure)
                reason = Unreachable(reason_of(failure), passes)
    return reason


def may_pass(failure: BaseException) -> bool:
    """A slow network or host, or a name server that cannot answer at the moment."""
    if isinstance(failure, socket.gaierror):
        return failure.errno == socket.EAI_AGAIN
    return isinstance(failure, TimeoutError)


def reason_of(failure: BaseException) -> str:
    if isinstance(failure, TimeoutError):
        return "no answer to the connection"
    said = getattr(failure, "strerror", None) or str(failure)
    return said[:1].lower() + said[1:] if said else type(failure).__name__
