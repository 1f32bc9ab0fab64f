"""The addresses that a broker tells its clients: what they connect to after the first answer."""

from __future__ import annotations

import ipaddress
import ssl
from typing import NamedTuple

from interfaces.cli.probe.connecting import in_container
from interfaces.cli.probe.finding import OK, Finding, ok, problem
from interfaces.cli.probe.pace import Pace
from interfaces.cli.probe.talking import Protocol
from interfaces.cli.probe.wire_client import NoAnswer, WireClient
from interfaces.terminal.addresses import Address, is_loopback
from interfaces.terminal.reachable import why_not

_METADATA_VERSION = 4


class Told(NamedTuple):
    cluster_id: str | None
    nodes: dict[int, Address]


def told(address: Address, protocol: Protocol, timeout_s: float) -> Told:
    """Raises NoAnswer, and OSError."""
    from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataResponse

    with WireClient(address, timeout_s, protocol.context) as client:
        request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
        answer = client.ask(request, _METADATA_VERSION, MetadataResponse)
    return Told(
        answer.cluster_id,
        {one.node_id: Address(one.host, one.port) for one in answer.brokers},
    )


def check(
    asked: Address, said: Told, protocol: Protocol, pace: Pace, *, every_node: bool
) -> list[Finding]:
    if not said.nodes:
        return [
            problem(
                f"{asked} names no broker to connect to",
                "it has just started, or no broker has joined the cluster: see its log",
                may_pass=True,
            )
        ]
    found: list[Finding] = []
    for node, address in sorted(said.nodes.items()):
        if found and (pace.is_over or (found[-1].level == OK and not every_node)):
            break
        found.append(_check_node(asked, said.cluster_id, node, address, protocol, pace))
    # One broker of several may be down; the others take over its partitions.
    some_may_work = any(one.level == OK or one.may_pass for one in found)
    if some_may_work or len(found) < len(said.nodes):
        found = [one._replace(may_pass=True) for one in found]
    return found


def _check_node(
    asked: Address,
    cluster_id: str | None,
    node: int,
    address: Address,
    protocol: Protocol,
    pace: Pace,
) -> Finding:
    what = f"broker {node} tells clients to connect to {address}"
    if _is_every_address(address.host):
        return problem(
            f"{what}, which is no address to connect to",
            f"set advertised.listeners to where clients reach it, like PLAINTEXT://{asked}",
        )
    reason = why_not(address, pace.timeout_s)
    if reason is not None:
        return problem(
            f"{what}, which cannot be reached from here: {reason}",
            _why(asked, address),
            may_pass=reason.may_pass,
        )
    try:
        there = told(address, protocol, pace.timeout_s)
    except (NoAnswer, ssl.SSLError, OSError) as failure:
        return problem(
            f"{what}, where no broker answers: {failure}", _why(asked, address), may_pass=True
        )
    if there.cluster_id != cluster_id:
        return problem(
            f"{what}, where another cluster answers ({there.cluster_id}, not {cluster_id})",
            _why(asked, address),
        )
    return ok(f"{what}, and that works")


def _why(asked: Address, address: Address) -> str:
    reached = f"set advertised.listeners=PLAINTEXT://{asked}"
    if is_loopback(address.host) and in_container():
        return (
            f"{address.host} is this container itself: {reached}, or give the broker a second "
            "listener for containers that is advertised by the broker's own name"
        )
    if is_loopback(address.host) and not is_loopback(asked.host):
        return f"{address.host} is the client's own machine, not the broker's: {reached}"
    if address.host == asked.host or (is_loopback(address.host) and is_loopback(asked.host)):
        return (
            f"the port is mapped or forwarded, {asked.port} here is {address.port} there: "
            f"{reached}, or map the port to the same number"
        )
    return (
        f"{address.host} is where the broker believes to be reached, which is so within its own "
        f"network only: {reached}"
    )


def _is_every_address(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
