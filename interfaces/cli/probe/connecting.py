"""From a name to a connection: what stands in the way, and what to do about it."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from interfaces.cli.probe.finding import Finding, note, ok, problem
from interfaces.cli.probe.pace import Pace
from interfaces.terminal.addresses import Address, is_loopback
from interfaces.terminal.reachable import may_pass, reason_of

_CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))


class Reached(NamedTuple):
    """The addresses of a name that take a connection, and what was found on the way."""

    hosts: list[str]
    findings: list[Finding]


def in_container() -> bool:
    return any(mark.exists() for mark in _CONTAINER_MARKS)


def reach(address: Address, pace: Pace) -> Reached:
    findings: list[Finding] = []
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as failure:
        return Reached([], [_not_resolved(address, failure)])
    hosts = list(dict.fromkeys(str(place[0]) for *_, place in found))
    if hosts != [address.host]:
        findings.append(ok(f"{address.host} is {', '.join(hosts)}"))
    reasons: dict[str, BaseException] = {}
    for host in hosts:
        try:
            socket.create_connection((host, address.port), pace.timeout_s).close()
        except OSError as failure:
            reasons[host] = failure
    reached = [host for host in hosts if host not in reasons]
    if not reached:
        findings.append(_not_connected(address, reasons))
        return Reached([], findings)
    findings.append(ok(f"{address} takes connections"))
    findings += [
        note(
            f"{host} of {address.host} does not ({reason_of(failure)}): "
            "clients try that address too and may complain",
            f"use {reached[0]} in place of {address.host}",
        )
        for host, failure in reasons.items()
    ]
    return Reached(reached, findings)


def _not_resolved(address: Address, failure: BaseException) -> Finding:
    return problem(
        f"the name {address.host} cannot be resolved ({reason_of(failure)})",
        "check its spelling; a container's or a pod's name is known within its own network only: "
        "from outside use an address that is mapped, or put the name into the hosts file",
        may_pass=may_pass(failure),
    )


def _not_connected(address: Address, reasons: Mapping[str, BaseException]) -> Finding:
    # A client tries every address of the name: one that is only slow may still answer.
    failure = next(filter(may_pass, reasons.values()), next(iter(reasons.values())))
    if isinstance(failure, ConnectionRefusedError):
        what = f"{address} refuses the connection: nothing listens there"
        if is_loopback(address.host) and in_container():
            return problem(
                f"{what}, and this is a container, where {address.host} is the container itself",
                "use the name of the broker's container or service, or host.docker.internal for "
                "the machine",
            )
        if is_loopback(address.host):
            return problem(
                what, f"start a broker (`ottla serve --listen {address}`), or give its port with -b"
            )
        return problem(
            what,
            "check the port, and that the broker listens on more than 127.0.0.1 "
            f"(`ottla serve --listen 0.0.0.0:{address.port}`)",
        )
    if isinstance(failure, TimeoutError):
        return problem(
            f"{address} does not answer to a connection",
            "a firewall or a security group swallows it, or the machine is not there: open the "
            "port, check the address",
            may_pass=True,
        )
    return problem(
        f"{address} cannot be reached ({reason_of(failure)})",
        "check the network between here and there",
    )
