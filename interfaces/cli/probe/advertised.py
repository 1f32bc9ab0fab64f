"""Advertised addresses: where clients connect after the first Metadata response."""

from __future__ import annotations

import ipaddress
import ssl
from typing import NamedTuple

from interfaces.cli.probe.connecting import in_container
from interfaces.cli.probe.finding import OK, Finding, ok, problem
from interfaces.cli.probe.pace import Pace
from interfaces.cli.probe.sasl import authenticate
from interfaces.cli.probe.talking import Protocol, rest_url
from interfaces.cli.probe.wire_client import NoResponse, WireClient
from interfaces.terminal.addresses import Address, is_loopback
from interfaces.terminal.reachable import why_not

_METADATA_VERSION = 4


class Cluster(NamedTuple):
    cluster_id: str | None
    nodes: dict[int, Address]


def fetch_cluster(address: Address, protocol: Protocol, timeout_s: float) -> Cluster:
    """Raises NoResponse and OSError."""
    from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataResponse

    with WireClient(address, timeout_s, protocol.context) as client:
        if protocol.sasl:
            authenticate(client, protocol)
        request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
        response = client.send(request, _METADATA_VERSION, MetadataResponse)
    return Cluster(
        response.cluster_id,
        {one.node_id: Address(one.host, one.port) for one in response.brokers},
    )


def check(
    bootstrap: Address, cluster: Cluster, protocol: Protocol, pace: Pace, *, every_node: bool
) -> list[Finding]:
    if not cluster.nodes:
        what, remedy = f"the metadata of {bootstrap} has no broker", "see the log of the broker"
        return [problem(what, remedy, may_pass=True)]
    found: list[Finding] = []
    for node, address in sorted(cluster.nodes.items()):
        if found and (pace.is_over or (found[-1].level == OK and not every_node)):
            break
        others = [one for one in cluster.nodes if cluster.nodes[one] == address and one != node]
        if every_node and others:
            what = f"broker {node} advertises {address}, and so does broker {min(others)}"
            found.append(problem(f"{what}: clients reach one of them only", _own_address(node)))
            continue
        found.append(_check_node(bootstrap, cluster, node, protocol, pace))
    # One broker of several may be down; the others take over its partitions.
    some_may_work = any(one.level == OK or one.may_pass for one in found)
    if some_may_work or len(found) < len(cluster.nodes):
        found = [one._replace(may_pass=True) for one in found]
    return found


def _check_node(
    bootstrap: Address, cluster: Cluster, node: int, protocol: Protocol, pace: Pace
) -> Finding:
    address = cluster.nodes[node]

    def remedy() -> str:
        if len(cluster.nodes) > 1:  # which of them `bootstrap` is is not known
            return _own_address(node)
        return _remedy(bootstrap, address, protocol) + _removal(bootstrap, node, pace)

    what = f"broker {node} advertises {address}"
    if _is_unspecified(address.host):
        return problem(
            f"{what}, which clients cannot connect to",
            "set advertised.listeners to an address of the broker, like "
            f"{protocol.name}://{bootstrap}",
        )
    reason = why_not(address, pace.timeout_s)
    if reason is not None:
        what = f"{what}, which is unreachable from here: {reason}"
        return problem(what, remedy(), may_pass=reason.may_pass)
    try:
        there = fetch_cluster(address, protocol, pace.timeout_s)
    except (NoResponse, ssl.SSLError, OSError) as failure:
        return problem(f"{what}, where no broker responds: {failure}", remedy(), may_pass=True)
    if there.cluster_id != cluster.cluster_id:
        ids = f"{there.cluster_id}, not {cluster.cluster_id}"
        return problem(f"{what}, where another cluster responds ({ids})", remedy())
    return ok(f"{what}, which works")


def _own_address(node: int) -> str:
    return f"set advertised.listeners of broker {node} to an address of its own"


def _remedy(bootstrap: Address, address: Address, protocol: Protocol) -> str:
    setting = f"set advertised.listeners={protocol.name}://{bootstrap}"
    if is_loopback(address.host) and in_container():
        return (
            f"{address.host} is this container itself: {setting}, or add a listener for containers "
            "that advertises the broker's container name"
        )
    if is_loopback(address.host) and not is_loopback(bootstrap.host):
        return f"{address.host} is the client's own machine, not the broker's: {setting}"
    if address.host == bootstrap.host or (
        is_loopback(address.host) and is_loopback(bootstrap.host)
    ):
        return (
            f"port {bootstrap.port} is mapped to {address.port}: {setting}, or map the port to the "
            "same number"
        )
    return f"{address.host} may be known in the network of the broker only: {setting}"


def _removal(bootstrap: Address, node: int, pace: Pace) -> str:
    """REST of an Ottla broker is reachable without the advertised address."""
    url = rest_url(bootstrap, pace.timeout_s)
    if url is None:
        return ""
    path = f"{url}/brokers/{node}/configs/advertised.listeners"
    return f"; if it was altered in the running broker: curl -X DELETE {path}"


def _is_unspecified(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
