"""Whether anybody listens: librdkafka would try for long where it is plain at once."""

from __future__ import annotations

import socket
import time

from interfaces.spark.failures import JobFailed, WrongOption

PROBE_S = 3.0


def look(servers: str) -> None:
    """Raises where no address of `servers` takes a connection."""
    reasons = []
    for address in filter(None, map(str.strip, servers.split(","))):
        host, port = _split(address)
        reason = _why_not(host, port)
        if reason is None:
            return
        reasons.append(f"{address}: {reason}")
    raise JobFailed(f"no broker at {'; '.join(reasons)}")


def _split(address: str) -> tuple[str, int]:
    host, _, port = (
        address.partition("://")[2].rpartition(":")
        if "://" in address
        else (address.rpartition(":"))
    )
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise WrongOption(f"kafka.bootstrap.servers: {address!r} is no host:port")
    return host.strip("[]"), int(port)


def _why_not(host: str, port: int) -> str | None:
    deadline = time.monotonic() + PROBE_S
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as failure:
        return f"the name cannot be resolved ({_said(failure)})"
    reason = "no address"
    for family, kind, protocol, _, place in found:
        with socket.socket(family, kind, protocol) as probe:
            probe.settimeout(max(0.1, deadline - time.monotonic()))
            try:
                probe.connect(place)
                return None
            except OSError as failure:
                reason = _said(failure)
    return reason


def _said(failure: BaseException) -> str:
    if isinstance(failure, TimeoutError):
        return "no answer to the connection"
    return (getattr(failure, "strerror", None) or str(failure)).lower()
