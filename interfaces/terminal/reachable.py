"""Whether anybody listens: librdkafka would try for long where it is plain at once."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable

from interfaces.terminal.addresses import Address

PROBE_S = 3.0


class NobodyListens(Exception):
    """At any of the addresses; it says why, in one line."""


def first_reachable(
    addresses: Iterable[Address], timeout_s: float = PROBE_S, what: str = "broker"
) -> Address:
    reasons = []
    for address in addresses:
        reason = why_not(address, timeout_s)
        if reason is None:
            return address
        reasons.append(f"{address}: {reason}")
    raise NobodyListens(f"no {what} at {'; '.join(reasons)}")


def why_not(address: Address, timeout_s: float) -> str | None:
    """Why no connection can be made; None: one can."""
    deadline = time.monotonic() + timeout_s
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as failure:
        return f"the name cannot be resolved ({reason_of(failure)})"
    reason = "no address"
    for family, kind, protocol, _, place in found:
        with socket.socket(family, kind, protocol) as probe:
            probe.settimeout(max(0.1, deadline - time.monotonic()))
            try:
                probe.connect(place)
                return None
            except OSError as failure:
                reason = reason_of(failure)
    return reason


def reason_of(failure: BaseException) -> str:
    if isinstance(failure, TimeoutError):
        return "no answer to the connection"
    said = getattr(failure, "strerror", None) or str(failure)
    return said[:1].lower() + said[1:] if said else type(failure).__name__
