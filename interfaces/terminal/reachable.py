"""Whether a port accepts connections, at once: librdkafka retries until a timeout."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable
from typing import NamedTuple

from interfaces.terminal.addresses import Address

PROBE_S = 3.0


class BrokerUnreachable(Exception):
    """No address accepts connections; the message has the reasons."""

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
    raise BrokerUnreachable(f"no {what} at {'; '.join(reasons)}", may_pass)


def why_not(address: Address, timeout_s: float) -> Unreachable | None:
    """Returns None if the address accepts connections."""
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
    """A slow network or host, or a temporary failure of the name server."""
    if isinstance(failure, socket.gaierror):
        return failure.errno == socket.EAI_AGAIN
    return isinstance(failure, TimeoutError)


def reason_of(failure: BaseException) -> str:
    if isinstance(failure, TimeoutError):
        return "connection timed out"
    text = getattr(failure, "strerror", None) or str(failure)
    return text[:1].lower() + text[1:] if text else type(failure).__name__
