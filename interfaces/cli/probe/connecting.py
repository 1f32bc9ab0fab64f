"""From a name to a TCP connection: what fails, and the remedy."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from interfaces.cli.probe.finding import NOTE, Finding, ok, problem
from interfaces.cli.probe.pace import Pace
from interfaces.terminal.addresses import Address, is_loopback
from interfaces.terminal.reachable import may_pass, reason_of

_CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))


class Reached(NamedTuple):
    is_open: bool
    findings: list[Finding]


def in_container() -> bool:
    return any(mark.exists() for mark in _CONTAINER_MARKS)


def reach(address: Address, pace: Pace) -> Reached:
    """Connects to every address of the name, as clients do."""
    findings: list[Finding] = []
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as failure:
        return Reached(False, [_not_resolved(address, failure)])
    hosts = list(dict.fromkeys(str(place[0]) for *_, place in found))
    if hosts != [address.host]:
        findings.append(ok(f"{address.host} resolves to {', '.join(hosts)}"))
    failures: dict[str, BaseException] = {}
    for host in hosts:
        try:
            socket.create_connection((host, address.port), pace.timeout_s).close()
        except OSError as failure:
            failures[host] = failure
    reached = [host for host in hosts if host not in failures]
    if not reached:
        return Reached(False, [*findings, _not_connected(address, failures)])
    findings.append(ok(f"{address} accepts connections"))
    for host, reason in failures.items():
        what = f"{host}, an address of {address.host}, does not ({reason_of(reason)})"
        findings.append(Finding(NOTE, what, f"use {reached[0]} instead of {address.host}"))
    return Reached(True, findings)


def _not_resolved(address: Address, failure: BaseException) -> Finding:
    return problem(
        f"the name {address.host} cannot be resolved ({reason_of(failure)})",
        "check the name; names of containers and pods resolve within their own network only",
        may_pass=may_pass(failure),
    )


def _not_connected(address: Address, failures: Mapping[str, BaseException]) -> Finding:
    # A client tries every address of the name: one that is only slow may still accept.
    failure = next(filter(may_pass, failures.values()), next(iter(failures.values())))
    if isinstance(failure, TimeoutError):
        return problem(
            f"connecting to {address} times out",
            "a firewall may drop packets, or the host is down: open the port, check the address",
            may_pass=True,
        )
    if not isinstance(failure, ConnectionRefusedError):
        return problem(f"{address} is unreachable ({reason_of(failure)})", "check the network")
    what = f"{address} refuses connections: no process listens on the port"
    if not is_loopback(address.host):
        remedy = (
            "check the port, and that the broker does not listen on 127.0.0.1 only "
            f"(`ottla serve --listen 0.0.0.0:{address.port}`)"
        )
    elif in_container():
        remedy = (
            f"this is a container, where {address.host} is the container itself: use the name of "
            "the broker's container or service, or host.docker.internal for the host"
        )
    else:
        remedy = f"start a broker (`ottla serve --listen {address}`), or set its port with -b"
    return problem(what, remedy)
